// What happened to a proposal, as a record like those of the audit: who, when and which tool, never arguments or results.
// Everything in it may come from strangers. Pure.
import type { Proposal, ProposalChange } from "@mcpx/client";
import { cutSecrets } from "@mcpx/host";
import { isObject, type JsonObject } from "@mcpx/protocol";

type End = ProposalChange["type"] | "untracked";

export interface ProposalRecord {
  /** Ms since 1970. */
  at: number;
  action: string;
  actor: string;
  subject?: string;
  topic: string;
  detail: JsonObject;
}

const actions: Record<End, string> = {
  proposed: "proposal.made",
  status: "proposal.status",
  advice: "proposal.advice",
  fulfilled: "proposal.fulfilled",
  "called late": "proposal.called_late",
  answered: "proposal.answered",
  rejected: "proposal.rejected",
  withdrawn: "proposal.withdrawn",
  expired: "proposal.expired",
  // Crowded out by other proposals while it was open: its outcome is in the room's log, and not followed.
  untracked: "proposal.untracked",
};

export const proposalActions: readonly string[] = Object.values(actions);

const charsMax = 256;

/** `seq`: of the envelope that did it, in its topic; time alone has none. */
export interface ChangePlace {
  topic: string;
  at: number;
  seq?: number;
}

export function proposalRecord(
  { type, proposal, by }: Omit<ProposalChange, "type"> & { type: End },
  { topic, at, seq }: ChangePlace,
): ProposalRecord {
  const { id, proposer, mcpax } = proposal;
  // From the call on it is about what was called, whatever was proposed.
  const { method, params } = calledIn(proposal) ?? proposal;
  const tool = toolOf({ method, params });
  const subject = subjectOf(type, proposal);
  const detail = {
    proposal: id,
    seq,
    method,
    tool,
    // The same number stands in the `gate.*` records of a call at a gate.
    gate: isObject(mcpax) ? mcpax.confirmation_id : undefined,
    ...wordsOf(type, proposal, by),
  };
  return {
    at,
    action: actions[type],
    actor: bounded(by ?? proposer),
    ...(subject === undefined ? {} : { subject: bounded(subject) }),
    topic,
    detail: Object.fromEntries(
      Object.entries(detail).flatMap(([key, value]) =>
        typeof value === "string" ? [[key, bounded(value)]] : isPlain(value) ? [[key, value]] : [],
      ),
    ),
  };
}

function subjectOf(type: End, { proposer, targets, fulfilment, lateCall }: Proposal): string | undefined {
  const call = fulfilment ?? lateCall;
  if (type === "proposed") return targets.length === 0 ? undefined : targets.join(", ");
  if (type === "fulfilled" || type === "called late") return call?.target;
  if (type === "answered") return call?.fulfiller;
  return type === "rejected" || type === "advice" || type === "status" ? proposer : undefined;
}

function calledIn({ fulfilment, lateCall }: Proposal) {
  return (fulfilment ?? lateCall)?.called;
}

/** The tool that was proposed, where another one was called. */
function otherTool(proposal: Proposal): JsonObject {
  const called = calledIn(proposal);
  const proposed = toolOf(proposal);
  return called === undefined || toolOf(called) === proposed ? {} : { proposedTool: proposed };
}

function toolOf({ method, params }: Pick<Proposal, "method" | "params">): unknown {
  return method === "tools/call" ? params.name : undefined;
}

function wordsOf(type: End, proposal: Proposal, by: string | undefined): JsonObject {
  const { reason, expiresAt, rejections, statuses, withdrawal, fulfilment, lateCall, error } = proposal;
  if (type === "proposed") return { expiresAt: timeText(expiresAt), reason };
  if (type === "fulfilled" || type === "called late") {
    const call = type === "fulfilled" ? fulfilment : lateCall;
    return { proposer: proposal.proposer, changed: call?.isChanged, ...otherTool(proposal) };
  }
  if (type === "answered") return { outcome: error === undefined ? "result" : "error" };
  if (type === "withdrawn") return { reason: withdrawal?.reason };
  const said = (type === "status" ? statuses : rejections).findLast((one) => one.by === by);
  return said === undefined ? {} : { ...said, by: undefined, isFinal: undefined };
}

/** What another gateway sends is checked before it is shown. */
export function isProposalRecord(value: unknown): value is ProposalRecord {
  return (
    isObject(value) &&
    isTime(value.at) &&
    [value.action, value.actor, value.topic].every((text) => typeof text === "string") &&
    isObject(value.detail)
  );
}

/** `expires_at` of a proposal may name a year that no date has. */
function timeText(at: number): string | undefined {
  return isTime(at) ? new Date(at).toISOString() : undefined;
}

function isTime(at: unknown): at is number {
  return Number.isInteger(at) && Math.abs(Number(at)) <= 8.64e15;
}

function isPlain(value: unknown): boolean {
  return typeof value === "number" || typeof value === "boolean";
}

function bounded(text: string): string {
  return cutSecrets(text.length <= charsMax ? text : `${text.slice(0, charsMax)}…`).toWellFormed();
}
