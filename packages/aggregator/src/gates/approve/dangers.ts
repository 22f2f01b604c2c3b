// What an approver is told about a call's danger, in words. Pure. [AX-11.2-1]
import { type Capability, isIrreversible } from "@mcpx/protocol";

/** `why`: why it is asked for. What is believed of a tool that says nothing is assumed, and said to be so. */
export function dangersOf(capability: Readonly<Capability>, why?: string): string[] {
  const { mutable, idempotent, auth_scope, cost_class } = capability;
  const words: string[] = [];
  if (why === "unannotated") words.push("Assumed, since it says nothing that is believed");
  if (isIrreversible(capability)) words.push("Cannot be undone");
  else if (mutable) words.push("Changes something, and can be undone");
  if (mutable && !idempotent) words.push("Twice is not the same as once");
  if (auth_scope === "admin") words.push("Needs the rights of an administrator");
  if (cost_class === "expensive") words.push("Expensive");
  if (cost_class === "metered") words.push("May cost something");
  return words;
}

const reasons: Readonly<Record<string, string>> = {
  irreversible: "The tool says that it cannot be undone.",
  unannotated: "The tool says nothing of its danger that is believed.",
  reversible: "A rule of the operator wants it.",
  panic: "At the moment everything is asked for.",
};

/** Why a human is asked at all. */
export function whyText(why: string): string {
  return reasons[why] ?? `The operator's ${why} wants it.`;
}
