// Who decided what, when, and how long it waited: from calls at gates, from what was said in rooms, and from the audit.
// Pure.
import { type Proposal, type ProposalChange, ProposalTracker } from "@mcpx/client";
import { isObject, type JsonObject } from "@mcpx/protocol";
import type { Row } from "../store/timeline.ts";
import type { AuditRow } from "./audit.ts";

export const outcomes = ["approved", "rejected", "expired", "withdrawn", "waiting"] as const;
export type Outcome = (typeof outcomes)[number];

export interface Decision {
  readonly key: string;
  readonly kind: "proposal" | "gate" | "setting";
  /** The tool, or what was set. */
  readonly what: string;
  /** The room; nothing where it is the tree. */
  readonly topic: string | undefined;
  /** Who asked; nobody where something was set. */
  readonly who: string | undefined;
  readonly by: readonly string[];
  /** When it was asked for, or set. */
  readonly askedAt: number;
  /** `undefined` while it waits. */
  readonly decidedAt: number | undefined;
  /** `undefined` where something was set: nobody had asked. */
  readonly outcome: Outcome | undefined;
  /** What was said about it, or its outcome. */
  readonly note: string | undefined;
}

const rowsMax = 5_000;

/**
 * Of what was said in a room, as far as it is remembered: of the last rows only. `isOwn`: whose No counts here; that of
 * others who are not the target is advice until it turns out to be the last word.
 */
export function roomDecisions(
  topic: string,
  rows: readonly Row[],
  now: number,
  isOwn: (participant: string) => boolean = () => false,
): Decision[] {
  const tracker = new ProposalTracker();
  const advised = new Map<string, Decision>();
  const byId = new Map<string, Decision>();
  const note = (changes: readonly ProposalChange[], at: number) => {
    for (const change of changes) {
      const { id } = change.proposal;
      const before = byId.get(id);
      const next = decided(topic, change, before, at);
      if (next === undefined) continue;
      if (change.type === "advice") advised.set(id, next);
      const isAdvice = change.type === "advice" && !isOwn(change.by ?? "");
      byId.set(
        id,
        isAdvice && before !== undefined ? adviceOn(before, next) : lastWord(next, advised.get(id)),
      );
    }
  };
  for (const { envelope, at } of rows.slice(-rowsMax)) note(tracker.observe(envelope, at), at);
  note(tracker.expire(now), now);
  return [...byId.values()];
}

function decided(
  topic: string,
  { type, proposal, by }: ProposalChange,
  before: Decision | undefined,
  at: number,
): Decision | undefined {
  const asked = before ?? proposed(topic, proposal);
  const deciders = by === undefined ? [] : [by];
  const rejection = proposal.rejections.at(-1);
  switch (type) {
    case "proposed":
      // What stands at a gate is told by the gate.
      return proposal.mcpax === undefined ? asked : undefined;
    case "fulfilled":
      return (
        before && { ...asked, by: deciders, decidedAt: at, outcome: "approved", note: changedNote(proposal) }
      );
    case "called late":
      return before && { ...asked, note: `${by ?? "somebody"} made the call anyway` };
    case "answered":
      return before && { ...asked, note: [asked.note, resultNote(proposal)].filter(isThere).join(", ") };
    case "rejected":
    case "advice":
      return (
        before && {
          ...asked,
          by: deciders,
          decidedAt: at,
          outcome: "rejected",
          note: rejection?.reason ?? rejection?.code,
        }
      );
    case "withdrawn":
      return before && { ...asked, by: deciders, decidedAt: at, outcome: "withdrawn" };
    case "expired":
      return before && { ...asked, decidedAt: proposal.expiresAt, outcome: "expired" };
    case "status":
      return undefined;
  }
}

/** Still open for decisions. */
function adviceOn(before: Decision, { by }: Decision): Decision {
  return { ...before, note: `${by.join()} advises against it` };
}

/** What nobody did after a No was not done because of it. */
function lastWord(next: Decision, no: Decision | undefined): Decision {
  const isLeft = next.outcome === "withdrawn" || next.outcome === "expired";
  return isLeft && no !== undefined ? no : next;
}

function proposed(topic: string, { id, proposer, method, params, createdAt }: Proposal): Decision {
  return {
    key: `p ${topic} ${id}`,
    kind: "proposal",
    what: method === "tools/call" ? String(params.name) : method,
    topic,
    who: proposer,
    by: [],
    askedAt: createdAt,
    decidedAt: undefined,
    outcome: "waiting",
    note: undefined,
  };
}

function changedNote({ fulfilment }: Proposal): string | undefined {
  return fulfilment?.isChanged === true ? "changed" : undefined;
}

function resultNote({ result, error }: Proposal): string {
  return error !== undefined || result?.isError === true ? "failed" : "done";
}

function isThere(text: string | undefined): text is string {
  return text !== undefined;
}

const gateOutcomes: Readonly<Record<string, Outcome>> = {
  pending: "waiting",
  rejected: "rejected",
  expired: "expired",
  withdrawn: "withdrawn",
};

/** As the gateway lists it; nothing where nobody was asked. */
export function gateDecision(gate: JsonObject): Decision | undefined {
  const status = String(gate.status);
  const own = approvalsOf(gate.approvals);
  // Where the call itself waited for nobody, it is about its result.
  const approvals = own.length > 0 ? own : releasesOf(gate);
  const outcome = outcomeAtGate(gate, status, approvals.length > 0);
  if (outcome === undefined) return undefined;
  const isNo = outcome === "rejected" && typeof gate.rejectedBy === "string";
  return {
    key: `g ${String(gate.id)}`,
    kind: "gate",
    what: String(gate.tool),
    topic: undefined,
    who: String(gate.principal),
    by: isNo ? [String(gate.rejectedBy)] : outcome === "approved" ? approvals.map(({ by }) => by) : [],
    askedAt: Date.parse(String(gate.createdAt)),
    decidedAt: decidedAtOf(outcome, gate, approvals),
    outcome,
    note: outcome === "approved" ? status : typeof gate.reason === "string" ? gate.reason : undefined,
  };
}

function decidedAtOf(
  outcome: Outcome,
  { settledAt }: JsonObject,
  approvals: readonly { at: number }[],
): number | undefined {
  if (outcome === "waiting") return undefined;
  const given = outcome === "approved" ? approvals.at(-1)?.at : undefined;
  return [given, Date.parse(String(settledAt))].find((at) => Number.isFinite(at));
}

function outcomeAtGate(gate: JsonObject, status: string, isApproved: boolean): Outcome | undefined {
  const isReviewed = isObject(gate.review);
  if (gate.isAllowed === true && !isReviewed) return undefined;
  if (status === "held") return releasesOf(gate).length >= Number(gate.approvers) ? "approved" : "waiting";
  if (status === "withheld" && typeof gate.rejectedBy === "string") return "rejected";
  if (status === "withheld" && isReviewed) return "expired";
  return gateOutcomes[status] ?? (isApproved ? "approved" : undefined);
}

function releasesOf({ review }: JsonObject): { by: string; at: number }[] {
  return isObject(review) ? approvalsOf(review.approvals) : [];
}

function approvalsOf(value: unknown): { by: string; at: number }[] {
  const all = Array.isArray(value) ? value.filter(isObject) : [];
  return all.map(({ by, at }) => ({ by: String(by), at: Date.parse(String(at)) }));
}

/** What somebody set without being asked, by the audit's word for it. */
export const settings: Readonly<Record<string, string>> = {
  "participant.promote": "raised the level",
  "participant.demote": "lowered the level",
  "participant.kick": "sent away",
  "gate.grant": "granted",
  "gate.revoke": "revoked a grant",
  "gate.panic": "panic",
  "gate.calm": "end of panic",
  "tool.accept": "accepted a changed tool",
};

export function settingDecision({ seq, at, action, actor, subject, topic, reason }: AuditRow): Decision {
  const when = Date.parse(at);
  return {
    key: `a ${seq}`,
    kind: "setting",
    what: [settings[action] ?? action, subject].filter((part) => part !== "").join(": "),
    topic: topic === "" ? undefined : topic,
    who: undefined,
    by: actor === "" ? [] : [actor],
    askedAt: when,
    decidedAt: when,
    outcome: undefined,
    note: reason === "" ? undefined : `refused: ${reason}`,
  };
}

/** Newest first; what waits is newer than anything. */
export function inOrder(decisions: readonly Decision[]): Decision[] {
  const at = ({ decidedAt }: Decision) => decidedAt ?? Number.POSITIVE_INFINITY;
  return decisions.toSorted((a, b) => (at(a) === at(b) ? b.askedAt - a.askedAt : at(b) > at(a) ? 1 : -1));
}

/** Decided since then, or still waiting. */
export function since(decisions: readonly Decision[], from: number): Decision[] {
  return decisions.filter(({ decidedAt }) => decidedAt === undefined || decidedAt >= from);
}

export function waitedMs({ askedAt, decidedAt, outcome }: Decision): number | undefined {
  return outcome === undefined || decidedAt === undefined ? undefined : Math.max(0, decidedAt - askedAt);
}
