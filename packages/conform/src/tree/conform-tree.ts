// Tries the cases against a tree that is there already, each with a segment of its own.
import { outcomeOf } from "../outcome-of.ts";
import type { Target } from "../target.ts";
import { readTitle, type Verdict } from "../verdict.ts";
import { treeCases } from "./cases.ts";
import { createStand } from "./stand.ts";

export async function* conformTree(target: Target): AsyncGenerator<Verdict> {
  for (const { title, run } of treeCases) {
    const stand = createStand(target);
    const outcome = await outcomeOf(run(stand));
    await stand.close();
    yield { part: "tree", ...readTitle(title), ...outcome };
  }
}
