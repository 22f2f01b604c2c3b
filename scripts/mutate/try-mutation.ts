// Tries one mutation in a copy: edits, runs the tests of its requirement, puts the file back. A mutation is killed
// where one of these tests turns red that is green without it.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Outcome, runTests } from "./run-tests.ts";
import { edited, type Mutation, placeOf } from "./table.ts";
import { inStages } from "./tests-of.ts";

type Verdict = "killed" | "survived" | "stale" | "timed out" | "unfit";
export type Trial = {
  id: string;
  file: string;
  line?: number;
  verdict: Verdict;
  /** The test that noticed, or why there is no better verdict. */
  detail: string;
  ms: number;
};

/** Tests that were seen green in an unchanged copy. */
export type SeenGreen = Set<string>;

export async function tryMutation(
  mutation: Mutation,
  { copy, tests, seenGreen }: { copy: string; tests: string[]; seenGreen: SeenGreen },
): Promise<Trial> {
  const began = performance.now();
  const path = join(copy, mutation.file);
  const source = readSource(path);
  const place = placeOf(mutation, source);
  const judged = (verdict: Verdict, detail: string): Trial => ({
    id: mutation.id,
    file: mutation.file,
    ...("line" in place ? { line: place.line } : {}),
    verdict,
    detail,
    ms: Math.round(performance.now() - began),
  });
  if (source === undefined || "stale" in place) return judged("stale", "stale" in place ? place.stale : "");
  const wrong = mutation.tests?.find((test) => !tests.includes(test));
  if (wrong !== undefined) return judged("stale", `${wrong} has no title with [${mutation.id}]`);
  writeFileSync(path, edited(mutation, source));
  const outcome = await inTurn(copy, inStages(mutation.tests ?? tests), mutation.id).finally(() =>
    writeFileSync(path, source),
  );
  if (outcome.kind === "green") return judged("survived", `${outcome.tests} tests stayed green`);
  if (outcome.kind === "timed out") return judged("timed out", "the tests did not end");
  if (outcome.kind === "broken") return judged("unfit", outcome.why);
  if (!(await isGreenOtherwise(outcome, copy, seenGreen))) {
    return judged("unfit", `red without the mutation too: ${outcome.test}`);
  }
  return judged("killed", `${outcome.file} › ${outcome.test}`);
}

function readSource(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

/** Stops at the first stage that is not green: what the cheap tests notice costs no system test. */
async function inTurn(copy: string, stages: string[][], id: string): Promise<Outcome> {
  let tests = 0;
  for (const files of stages) {
    const outcome = await runTests(copy, files, `[${id}]`);
    if (outcome.kind !== "green") return outcome;
    tests += outcome.tests;
  }
  return tests > 0 ? { kind: "green", tests } : { kind: "broken", why: `no test names [${id}]` };
}

async function isGreenOtherwise(
  { file, test }: { file: string; test: string },
  copy: string,
  seen: SeenGreen,
) {
  const name = `${file} ${test}`;
  if (seen.has(name)) return true;
  const { kind } = await runTests(copy, [file], test);
  if (kind === "green") seen.add(name);
  return kind === "green";
}
