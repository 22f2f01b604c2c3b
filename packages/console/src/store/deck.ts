// Everything that waits for a person, from all rooms and all gates, oldest first; and what has just been decided. Pure.
import type { Proposal } from "@mcpx/client";
import { isObject, type JsonObject, parseExact } from "@mcpx/protocol";
import type { GateView } from "./gates.ts";

interface CardBase {
  readonly key: string;
  readonly who: string;
  readonly tool: string;
  readonly args: JsonObject;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly isPending: boolean;
  readonly outcome: Outcome;
}

export interface ProposalItem extends CardBase {
  readonly kind: "proposal";
  readonly topic: string;
  readonly target: string | undefined;
  readonly proposal: Proposal;
}

export interface GateItem extends CardBase {
  readonly kind: "gate";
  readonly gate: GateView;
  /** It has happened; it is about whether its caller sees what came of it. */
  readonly isReview: boolean;
}

export type Item = ProposalItem | GateItem;

type Rejection = Proposal["rejections"][number];

interface Outcome {
  short: string;
  /** Who decided, and what came of it. */
  long: string;
  tone: "open" | "good" | "bad" | "odd";
}

/** `isOwn`: whose No counts here; that of others who are not its target is advice, and hides nothing. */
export function proposalItem(
  topic: string,
  proposal: Proposal,
  isOwn: (participant: string) => boolean,
): ProposalItem {
  const { id, proposer, targets, method, params, createdAt, expiresAt } = proposal;
  const isCall = method === "tools/call";
  const outcome = proposalOutcome(proposal, isOwn);
  return {
    kind: "proposal",
    key: `p ${topic} ${id}`,
    topic,
    proposal,
    who: proposer,
    target: targets.length === 1 ? targets[0] : undefined,
    tool: isCall ? String(params.name) : method,
    args: isCall ? (isObject(params.arguments) ? params.arguments : {}) : params,
    createdAt,
    expiresAt,
    isPending: outcome.tone === "open" && proposal.status === "pending",
    outcome,
  };
}

export function gateItem(gate: GateView): GateItem {
  const args = parseExact(gate.argumentsText);
  return {
    kind: "gate",
    key: `g ${gate.id}`,
    gate,
    isReview: gate.status === "held",
    who: gate.principal,
    tool: gate.tool,
    args: isObject(args) ? args : { arguments: args },
    createdAt: Date.parse(gate.createdAt),
    expiresAt: Date.parse(gate.expiresAt),
    isPending: gate.status === "pending" || gate.status === "held",
    outcome: gateOutcome(gate),
  };
}

/** Who decided is always said. */
function proposalOutcome(proposal: Proposal, isOwn: (participant: string) => boolean): Outcome {
  const { status, fulfilment, result, error, rejections } = proposal;
  const no = rejections.find(({ isFinal }) => isFinal) ?? rejections.at(-1);
  switch (status) {
    case "fulfilled": {
      const by = `Approved by ${fulfilment?.fulfiller ?? "somebody"}${fulfilment?.isChanged ? ", changed" : ""}.`;
      if (error !== undefined || (isObject(result) && result.isError === true)) {
        return { short: "Failed", long: `${by} The call was made, and failed.`, tone: "odd" };
      }
      if (result !== undefined)
        return { short: "Done", long: `${by} The call was made, and is done.`, tone: "good" };
      return { short: "Approved", long: `${by} The call is on its way.`, tone: "good" };
    }
    case "rejected":
      return { short: "Rejected", long: rejectedText(no), tone: "bad" };
    case "withdrawn":
      if (no !== undefined) return { short: "Rejected", long: rejectedText(no), tone: "bad" };
      return { short: "Withdrawn", long: "The proposer took it back. Nothing has happened.", tone: "bad" };
    case "expired":
      if (no !== undefined) return { short: "Rejected", long: rejectedText(no), tone: "bad" };
      return { short: "Expired", long: "Nobody decided in time. Nothing has happened.", tone: "bad" };
    case "pending": {
      const own = rejections.findLast(({ by }) => isOwn(by));
      if (own !== undefined) return { short: "Rejected", long: rejectedText(own), tone: "bad" };
      const advice = no === undefined ? "" : ` ${no.by} advises against it.${quoted(no)}`;
      return { short: "Waiting", long: `Waiting for a decision.${advice}`, tone: "open" };
    }
  }
}

function rejectedText(no: Rejection | undefined): string {
  return `Rejected by ${no?.by ?? "somebody"}.${quoted(no)} Nothing has happened.`;
}

function quoted(no: Rejection | undefined): string {
  const why = no?.reason ?? no?.code;
  return why === undefined ? "" : ` “${why}”`;
}

function gateOutcome(gate: GateView): Outcome {
  const { status, approvals, approvers, rejectedBy, reason } = gate;
  const names = (gate.review?.approvals ?? approvals).map(({ by }) => by);
  const by = `${gate.review ? "Released" : "Approved"} by ${names.join(" and ") || "somebody"}.`;
  switch (status) {
    case "pending": {
      const given = names.length === 0 ? "" : ` ${names.join(" and ")} approved it.`;
      const need = approvers === 1 ? "" : ` ${approvers - names.length} more of ${approvers} must approve.`;
      return { short: "Waiting", long: `Waiting for a signature.${given}${need}`, tone: "open" };
    }
    case "held": {
      const given = names.length === 0 ? "" : ` ${names.join(" and ")} released it.`;
      return {
        short: "Held",
        long: `It has happened. Its result waits for being released.${given}`,
        tone: "open",
      };
    }
    case "withheld": {
      const long = `It has happened; its result was withheld by ${rejectedBy ?? "nobody"}: ${reason ?? ""}`;
      return { short: "Withheld", long, tone: "bad" };
    }
    case "done":
      return { short: "Done", long: `${by} The call was made once, and is done.`, tone: "good" };
    case "failed":
      return { short: "Failed", long: `${by} The call was made, and failed.`, tone: "odd" };
    case "indeterminate":
      return { short: "Unknown", long: `${by} Nobody knows whether the call has happened.`, tone: "odd" };
    case "rejected": {
      const why = reason === undefined || reason === "" ? "" : ` “${reason}”`;
      return {
        short: "Rejected",
        long: `Rejected by ${rejectedBy ?? "somebody"}.${why} Nothing has happened.`,
        tone: "bad",
      };
    }
    case "expired":
      return { short: "Expired", long: "Nobody decided in time. Nothing has happened.", tone: "bad" };
    case "withdrawn":
      return { short: "Withdrawn", long: "The caller took it back. Nothing has happened.", tone: "bad" };
    default:
      return { short: "Approved", long: `${by} The call is on its way.`, tone: "good" };
  }
}

/** The answer of the tool, or the error in its place. */
export function resultOf(item: Item): { result?: JsonObject; error?: JsonObject } {
  if (item.kind === "gate") return item.gate.outcome ?? {};
  const { result, error } = item.proposal;
  return { ...(result !== undefined && { result }), ...(error !== undefined && { error }) };
}

export interface Deck {
  readonly waiting: readonly Item[];
  /** Seen waiting by this page and decided since, newest first. */
  readonly settled: readonly Item[];
}

const settledMax = 5;

/** `seen`: keys of what this page has shown waiting, which grows; `dismissed`: what it need not show any more. */
export function dealDeck(items: readonly Item[], seen: Set<string>, dismissed: ReadonlySet<string>): Deck {
  const waiting = items.filter(({ isPending }) => isPending).sort((a, b) => a.createdAt - b.createdAt);
  for (const { key } of waiting) seen.add(key);
  const settled = items
    .filter(({ key, isPending }) => !isPending && seen.has(key) && !dismissed.has(key))
    .sort((a, b) => b.createdAt - a.createdAt)
    .slice(0, settledMax);
  return { waiting, settled };
}

export function isSameDeck(a: Deck, b: Deck): boolean {
  const same = (one: readonly Item[], other: readonly Item[]) =>
    one.length === other.length && one.every((item, i) => item === other[i]);
  return same(a.waiting, b.waiting) && same(a.settled, b.settled);
}
