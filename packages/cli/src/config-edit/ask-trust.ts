// One question for each server that comes in: is what it says of its tools to be believed?
import type { Surroundings } from "../framework/command.ts";
import { ask } from "../framework/show-change.ts";
import { visible } from "../framework/visible.ts";

const follows = [
  "  y: tools that it calls read-only just work; those that it calls destructive wait for you",
  "  n: every tool that it does not call destructive is assumed to be, and waits for you",
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
