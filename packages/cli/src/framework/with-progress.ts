// Long work, and meanwhile a line that says how far it is.
import { setTimeout as sleep } from "node:timers/promises";
import type { Surroundings } from "./command.ts";

/** What is done before that needs no words. */
const firstMs = 1_000;
const againMs = 500;

/** `tell` is asked again and again, and shown when it says something new. */
export async function withProgress<T>(
  work: Promise<T>,
  tell: () => Promise<string>,
  { output }: Pick<Surroundings, "output">,
): Promise<T> {
  const over = work.then(
    () => true,
    () => true,
  );
  let shown = "";
  let waitMs = firstMs;
  while (!(await Promise.race([over, sleep(waitMs, false, { ref: false })]))) {
    waitMs = againMs;
    const text = await tell();
    if (text !== shown) output.progress(text);
    shown = text;
  }
  if (shown !== "") output.progress("");
  return work;
}
