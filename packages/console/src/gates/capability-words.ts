// What a person is told about a tool's danger, in words. Pure. [AX-11.2-1]
import {
  believedOf,
  type Capability,
  capabilityKey,
  capabilityOf,
  isIrreversible,
  isObject,
  type JsonObject,
  whoseWordText,
} from "@mcpx/protocol";

export interface Danger {
  text: string;
  tone: "bad" | "odd" | "good" | "plain" | "accent";
}

/** Beside the danger of a call that waits at a gate. */
export const needsSignature: Danger = { text: "Requires signature", tone: "accent" };

/** `why`: why it is asked for. What is believed of a tool that says nothing is assumed, and said to be so. */
export function dangersOf(capability: Readonly<Capability>, why?: string, word?: string): Danger[] {
  const { mutable, idempotent, auth_scope, cost_class } = capability;
  const words: Danger[] = [];
  const whose = whoseWordText(word);
  if (why === "unannotated" && whose === undefined)
    words.push({ text: "Assumed: no trusted annotation", tone: "plain" });
  if (isIrreversible(capability)) words.push({ text: "Irreversible", tone: "bad" });
  else if (mutable) words.push({ text: "Changes something; reversible", tone: "odd" });
  else words.push({ text: "Read-only", tone: "good" });
  if (mutable && !idempotent) words.push({ text: "Not idempotent", tone: "plain" });
  if (auth_scope === "admin") words.push({ text: "Requires admin rights", tone: "bad" });
  if (cost_class === "expensive") words.push({ text: "Expensive", tone: "odd" });
  if (cost_class === "metered" && mutable) words.push({ text: "Costs money", tone: "plain" });
  if (whose !== undefined) words.push({ text: capitalised(whose), tone: "plain" });
  return words;
}

function capitalised(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

const unknownDanger: Danger = { text: "Danger not declared", tone: "odd" };

/** Of a tool as its server lists it; nobody vouches for what it says. */
export function toolDangers(tool: JsonObject | undefined): Danger[] {
  if (tool === undefined) return [unknownDanger];
  const isAnnotated = isObject(tool._meta) && capabilityKey in tool._meta;
  if (!isAnnotated && !isObject(tool.annotations)) return [unknownDanger];
  const capability = capabilityOf(tool, true);
  // MCP's own hints say nothing of costs.
  const own = dangersOf(isAnnotated ? capability : { ...capability, cost_class: "free" });
  return [...own, { text: "Says the tool itself", tone: "plain" }];
}

/** A tool of the tree that the gateway believes to only read. */
export function onlyReads(tool: JsonObject): boolean {
  return believedOf(tool).mutable === false;
}

const reasons: Readonly<Record<string, string>> = {
  irreversible: "The tool is irreversible",
  unannotated: "No trusted annotation says how dangerous the tool is",
  reversible: "A rule asks for it",
  panic: "Panic is on: every call needs an approval",
  "weaker gates": "The change makes gates weaker, or changes who approves",
};

/** Why a call is asked for, or let through. */
export function whyText(why: string, action = "ask"): string {
  if (action === "allow" && why === "reversible") return "The tool is read-only or reversible";
  if (action === "allow" && why === "unannotated") return "Tools without annotations are allowed here";
  return reasons[why] ?? `${why} says so`;
}
