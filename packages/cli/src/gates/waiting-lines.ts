// The user's own call that waits at a gate, as lines for who has typed it: what it waits for, and the next step. Its
// answer is written for a model. Pure.
import type { WaitingCall } from "@mcpx/protocol";
import { endText } from "../framework/duration.ts";
import { visible } from "../framework/visible.ts";

const states: Readonly<Record<WaitingCall["state"], string>> = {
  waiting: "waits at its gate; the call was not made yet",
  held: "was called; its result waits for a release",
  "under way": "was approved, and is being called",
};

export function waitingLines(
  { id, tool, expiresAt, approveUrl, state }: WaitingCall,
  { program, nowMs }: { program: string; nowMs: number },
): string[] {
  const first = `${visible(tool)} ${states[state]}`;
  if (state === "under way") return [first, `  gate     ${id}`, "  result   make the same call again"];
  return [
    first,
    `  gate     ${id}`,
    `  until    ${endText(expiresAt * 1_000, nowMs)}`,
    `  decide   ${program} approve ${id}`,
    `           ${program} reject ${id} --reason TEXT`,
    `           ${visible(approveUrl)}`,
    `  see all  ${program} pending`,
  ];
}
