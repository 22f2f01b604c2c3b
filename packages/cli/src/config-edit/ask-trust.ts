// One question for each server that comes in: is what it says of its tools to be believed?
import type { Surroundings } from "../framework/command.ts";
import { ask } from "../framework/show-change.ts";
import { visible } from "../framework/visible.ts";

const follows = [
  "  y: its annotations are believed: read-only tools are called at once, destructive ones wait for an approval",
  "  n: its annotations are not believed: every tool counts as destructive and waits for an approval",
];

/** No, where nobody is there to ask. */
export async function askTrust(
  context: Pick<Surroundings, "output" | "input">,
  name: string,
): Promise<boolean> {
  if (!context.input().isTerminal) return false;
  const question = [`Trust what ${visible(name)} says of its tools? y or n (Enter: n)`, ...follows].join(
    "\n",
  );
  return /^y(es)?$/i.test((await ask(context, question)) ?? "");
}
