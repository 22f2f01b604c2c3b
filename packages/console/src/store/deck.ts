// Everything that waits for a person, from all rooms and all gates, oldest first; and what has just been decided. Pure.
import type { Proposal } from "@mcpx/client";
import {
  argumentDiff,
  type GateOutcome,
  gateOutcome,
  isObject,
  type JsonObject,
  parseExact,
} from "@mcpx/protocol";
import { personText } from "../ui/person.ts";
import type { GateView } from "./gates.ts";

interface CardBase {
  readonly key: string;
  readonly who: string;
  readonly tool: string;
  readonly args: JsonObject;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly isPending: boolean;
  readonly outcome: GateOutcome;
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
  /** The call was made; it is about whether its caller sees the result. */
  readonly isReview: boolean;
}

export type Item = ProposalItem | GateItem;

type Rejection = Proposal["rejections"][number];

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

/** What the card of a gate is known by. */
export function gateKey(id: string): string {
  return `g ${id}`;
}

export function gateItem(gate: GateView): GateItem {
  const args = parseExact(gate.argumentsText);
  return {
    kind: "gate",
    key: gateKey(gate.id),
    gate,
    isReview: gate.status === "held",
    who: gate.principal,
    tool: gate.tool,
    args: isObject(args) ? args : { arguments: args },
    createdAt: Date.parse(gate.createdAt),
    expiresAt: Date.parse(gate.expiresAt),
    // Who asked for a held result does not see it, and cannot decide about it.
    isPending: gate.status === "pending" || (gate.status === "held" && gate.resultText !== undefined),
    outcome: gateOutcome({
      ...gate,
      approvals: gate.review?.approvals ?? gate.approvals,
      rejected_by: gate.rejectedBy,
      result_digest: gate.review?.digest,
    }),
  };
}

/** Who decided is always said. */
function proposalOutcome(proposal: Proposal, isOwn: (participant: string) => boolean): GateOutcome {
  const { status, fulfilment, result, error, rejections } = proposal;
  const no = rejections.find(({ isFinal }) => isFinal) ?? rejections.at(-1);
  switch (status) {
    case "fulfilled": {
      const by = `Approved by ${personText(fulfilment?.fulfiller ?? "somebody")}${changeText(proposal)}.`;
      if (error !== undefined || (isObject(result) && result.isError === true)) {
        return { short: "Failed", long: `${by} The call was made, and failed.`, tone: "odd" };
      }
      if (result !== undefined)
        return { short: "Done", long: `${by} The call was made, and is done.`, tone: "good" };
      return { short: "Approved", long: `${by} The call is on its way.`, tone: "good" };
    }
    case "rejected":
      return { short: "Rejected", long: `${rejectedText(no)} ${doneText(proposal)}`, tone: "bad" };
    case "withdrawn":
    case "expired": {
      const short = no !== undefined ? "Rejected" : status === "withdrawn" ? "Withdrawn" : "Expired";
      const over = status === "withdrawn" ? "The proposer withdrew it." : "Nobody decided in time.";
      const why = no === undefined ? over : rejectedText(no);
      return { short, long: `${why} ${doneText(proposal)}`, tone: "bad" };
    }
    case "pending": {
      const own = rejections.findLast(({ by }) => isOwn(by));
      if (own !== undefined)
        return { short: "Rejected", long: `${rejectedText(own)} ${doneText(proposal)}`, tone: "bad" };
      const advice = no === undefined ? "" : ` ${personText(no.by)} advises against it.${quoted(no)}`;
      return { short: "Waiting", long: `Waiting for a decision.${advice}`, tone: "open" };
    }
  }
}

const changesShown = 5;

/** Where what was called is not what was proposed: the values, which may be secret, are in the card's own list. */
function changeText({ params, fulfilment }: Proposal): string {
  if (fulfilment?.isChanged !== true) return "";
  const { called, target } = fulfilment;
  const bare = (of: object | undefined) => ({ ...of, _meta: undefined });
  const { changes, more } = argumentDiff(bare(params), bare(called?.params));
  const texts = changes.slice(0, changesShown).map(({ path }) => path);
  const left = changes.length - texts.length + more;
  if (texts.length === 0) return `, changed: ${called?.method ?? "the call"} of ${target}`;
  return `, changed: ${texts.join(", ")}${left > 0 ? `, and ${left} more` : ""}`;
}

function rejectedText(no: Rejection | undefined): string {
  return `Rejected by ${personText(no?.by ?? "somebody")}.${quoted(no)}`;
}

/** A room hinders nobody from making a call whose proposal is over: what counts is whether somebody has. */
function doneText({ lateCall, result, error }: Proposal): string {
  if (lateCall === undefined) return "No call was made for it.";
  const made = `${personText(lateCall.fulfiller)} made the call anyway${lateCall.isChanged ? ", changed" : ""}`;
  if (error !== undefined || (isObject(result) && result.isError === true)) return `${made}, and it failed.`;
  return result === undefined ? `${made}.` : `${made}, and it is done.`;
}

function quoted(no: Rejection | undefined): string {
  const why = no?.reason ?? no?.code;
  return why === undefined ? "" : ` “${why}”`;
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

/** `seen`: keys of what this page has shown waiting before; `dismissed`: what it need not show any more. */
export function dealDeck(
  items: readonly Item[],
  seen: ReadonlySet<string>,
  dismissed: ReadonlySet<string>,
): Deck {
  const waiting = items.filter(({ isPending }) => isPending).sort((a, b) => a.createdAt - b.createdAt);
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
