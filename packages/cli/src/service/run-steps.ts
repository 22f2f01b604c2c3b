// Does steps one after the other, tells each, and undoes what was done where one fails.
import { Failure } from "../framework/failure.ts";
import type { Output } from "../framework/output.ts";
import type { Step } from "./step.ts";

/** The steps that were done. */
export function runSteps(steps: readonly Step[], output: Output, { isQuiet }: { isQuiet: boolean }): Step[] {
  const done: Step[] = [];
  const tell = (mark: string, what: string) => {
    if (!isQuiet) output.line(`${mark}  ${what}`);
  };
  for (const step of steps) {
    if (step.isDone()) {
      tell("exists", step.what);
      continue;
    }
    try {
      step.work();
    } catch (error) {
      tell("FAILED", step.what);
      undoAll(done, tell);
      throw error instanceof Failure ? error : new Failure(`${step.what}: ${(error as Error).message}`);
    }
    tell("done  ", step.what);
    done.push(step);
  }
  return done;
}

function undoAll(done: readonly Step[], tell: (mark: string, what: string) => void): void {
  for (const step of done.toReversed()) {
    if (step.undo === undefined) continue;
    step.undo();
    tell("undone", step.what);
  }
}
