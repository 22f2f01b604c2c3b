// A call as it is shown to who decides about it, the same in the console, in a room and on the page of an approval.
// Pure.
import { type ArgumentDiff, type GateTerms, namesAsker } from "@mcpx/protocol";
import { personText } from "../ui/person.ts";
import { whenText } from "../ui/times.ts";
import { type Danger, whyText } from "./capability-words.ts";

export interface ShownCall {
  readonly dangers: readonly Danger[];
  /** Of the proposer. */
  readonly reason?: string | undefined;
  readonly warnings: readonly string[];
  readonly args: unknown;
  /** Where the tool's schema says that arguments are secret. */
  readonly places: readonly string[];
  /** What it is compared with, and in what it differs. */
  readonly changes?: (ArgumentDiff & { title: string }) | undefined;
  readonly facts: readonly Fact[];
}

export interface Fact {
  readonly label: string;
  readonly text: string;
  /** The address of what the text names. */
  readonly href?: string;
}

interface GateAsked {
  terms: GateTerms;
  route: readonly string[];
  why: string;
  approvers: number;
  approvals: readonly { by: string }[];
  askedAt: string;
  now: number;
  href?: string;
}

export function gateFacts({
  terms,
  route,
  why,
  approvers,
  approvals,
  askedAt,
  now,
  href,
}: GateAsked): Fact[] {
  const { server } = terms;
  const by = approvals.map((one) => personText(one.by)).join(" and ");
  return [
    { label: "Runs at", text: route.join(" → ") },
    {
      label: "Server",
      text:
        namesAsker(terms) && server !== undefined
          ? `${server.name}, tool ${server.tool} (${server.identity})`
          : "Asker not signed: an older build stored this call. It can only be rejected.",
    },
    { label: "Why", text: whyText(why) },
    { label: "Approvals", text: `${approvals.length} of ${approvers}${by === "" ? "" : ` by ${by}`}` },
    { label: "Digest", text: terms.arguments_digest },
    { label: "Asked", text: whenText(Date.parse(askedAt), now), ...(href !== undefined && { href }) },
  ];
}

/** How the last approved call of the same tool differs. */
export function lastTitle(
  last: { changes: readonly unknown[]; by: readonly string[]; at: string | undefined },
  now: number,
) {
  const by = last.by.map(personText).join(" and ");
  const when = last.at === undefined ? "" : `, ${whenText(Date.parse(last.at), now)}`;
  const whose = by === "" ? "" : ` (by ${by}${when})`;
  return last.changes.length === 0
    ? `The same as the last approved call${whose}`
    : `Different from the last approved call${whose}`;
}
