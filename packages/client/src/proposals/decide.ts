// What one envelope does to one proposal: a pure state machine with one outcome for every order of events. Whatever
// ends a proposal first, by the room's order, ends it; later envelopes do not change its status. A call that names a
// proposal which is over was made all the same: it is remembered as the late call, which gives nobody a right.
//
//   pending ──call refers to it──────────────► fulfilled ──target answers──► fulfilled, with result or error
//           ──proposer withdraws─────────────► withdrawn
//           ──every target rejects───────────► rejected      (others' rejections are advice)
//           ──an envelope later than its life► expired

import { isObject, isTimestamp, timestampMs, written } from "@mcpx/protocol";
import type { RoomEnvelope } from "../core/room-envelope.ts";
import { fulfilmentMetaOf } from "./fulfilment-meta.ts";
import { meaningOf } from "./meaning-of.ts";
import type { MadeCall, Proposal, ProposalChange, Rejection } from "./proposal.ts";

/** Of a reason, a code or a status: a gateway of mcpx refuses longer ones by default. */
const wordCharsMax = 2_000;
/** How many advisers of one proposal are remembered, and how many that said how it stands. */
const voicesMax = 100;

type Next = { proposal: Proposal; type: ProposalChange["type"] } | undefined;

/** Reads a proposal from its envelope; `undefined` where it is none. */
export function propose(envelope: RoomEnvelope, at: number, defaultTtlMs: number): Proposal | undefined {
  const { method, params, reason, mcpax, ttl_ms: ttlMs, expires_at: expiresAt } = envelope.payload;
  if (typeof method !== "string" || !isObject(params)) return undefined;
  const ends = [
    typeof ttlMs === "number" ? at + ttlMs : undefined,
    isTimestamp(expiresAt) ? timestampMs(expiresAt) : undefined,
  ].filter((end) => end !== undefined);
  return {
    id: envelope.id,
    proposer: envelope.from,
    targets: envelope.to ?? [],
    method,
    params,
    ...(typeof reason === "string" ? { reason } : {}),
    ...(isObject(mcpax) ? { mcpax } : {}),
    createdAt: at,
    expiresAt: ends.length === 0 ? at + defaultTtlMs : Math.min(...ends),
    status: "pending",
    rejections: [],
    statuses: [],
  };
}

/** [PL-1-1] [PL-9-2] */
export function withdraw(proposal: Proposal, by: string, { reason }: RoomEnvelope["payload"]): Next {
  if (proposal.status !== "pending" || by !== proposal.proposer) return undefined;
  const why = isShort(reason) ? { withdrawal: { reason } } : {};
  return { proposal: { ...proposal, ...why, status: "withdrawn" }, type: "withdrawn" };
}

/** [PL-2-1] [PL-2-2] [PL-9-3] */
export function reject(proposal: Proposal, by: string, { reason, code }: RoomEnvelope["payload"]): Next {
  if (proposal.status !== "pending") return undefined;
  const before = proposal.rejections.filter((rejection) => rejection.by !== by);
  const having = new Set([...before.map((rejection) => rejection.by), by]);
  const { targets } = proposal;
  const isFinal = targets.includes(by) && targets.every((target) => having.has(target));
  const rejection: Rejection = {
    by,
    isFinal,
    ...(isShort(reason) ? { reason } : {}),
    ...(isShort(code) ? { code } : {}),
  };
  // The word of a target counts, so it is never what makes place.
  const kept = before.length < voicesMax ? before : before.filter((one) => targets.includes(one.by));
  const rejections = [...kept, rejection];
  return isFinal
    ? { proposal: { ...proposal, rejections, status: "rejected" }, type: "rejected" }
    : { proposal: { ...proposal, rejections }, type: "advice" };
}

/** [PL-5-1] */
export function noteStatus(proposal: Proposal, by: string, payload: RoomEnvelope["payload"]): Next {
  const { status, reason } = payload;
  if (proposal.status !== "pending" || !isShort(status)) return undefined;
  const others = proposal.statuses.filter((one) => one.by !== by);
  const said = { by, status, ...(isShort(reason) ? { reason } : {}) };
  return { proposal: { ...proposal, statuses: [...others, said].slice(-voicesMax) }, type: "status" };
}

/** A request that refers to the proposal, by its envelope or by `_meta`. [X1-4.2.1-1] */
export function fulfil(proposal: Proposal, envelope: RoomEnvelope): Next {
  const [target] = envelope.to ?? [];
  if (proposal.status !== "pending" || target === undefined) return undefined;
  // A call at a gate is let go by a proof, never by somebody who makes it again. [B-GATE-2]
  if (proposal.mcpax !== undefined && envelope.from !== proposal.proposer) return undefined;
  const fulfilment = madeCall(proposal, envelope, target);
  return { proposal: { ...proposal, fulfilment, status: "fulfilled" }, type: "fulfilled" };
}

/** A request that names the proposal after its end. The first one is remembered, so that nobody says nothing was done. */
export function callLate(proposal: Proposal, envelope: RoomEnvelope): Next {
  const [target] = envelope.to ?? [];
  const isOver = proposal.status !== "pending" && proposal.status !== "fulfilled";
  if (!isOver || proposal.lateCall !== undefined || target === undefined) return undefined;
  // A copy of a gate's call is a call for oneself. [B-GATE-2]
  if (proposal.mcpax !== undefined && envelope.from !== proposal.proposer) return undefined;
  return { proposal: { ...proposal, lateCall: madeCall(proposal, envelope, target) }, type: "called late" };
}

function madeCall(proposal: Proposal, { id, from, payload }: RoomEnvelope, target: string): MadeCall {
  const { method, params } = payload;
  const call = { envelopeId: id, fulfiller: from, target };
  if (isAsProposed(proposal, target, payload)) return { ...call, isChanged: false };
  const called = { method: written(method), params: isObject(params) ? params : {} };
  return { ...call, isChanged: true, called };
}

/** Whether a call is exactly what was proposed; untargeted proposals leave the target to the fulfiller. [PL-10-1] */
export function isAsProposed(proposal: Proposal, target: string, payload: RoomEnvelope["payload"]): boolean {
  const { method, params, targets } = proposal;
  const isTarget = targets.length === 0 || targets.includes(target);
  return isTarget && payload.method === method && meaningOf(payload.params) === meaningOf(params);
}

/** The target's answer, and nobody else's. */
export function answer(proposal: Proposal, envelope: RoomEnvelope): Next {
  const { fulfilment, lateCall, result, error } = proposal;
  const call = fulfilment ?? lateCall;
  const isFirst = result === undefined && error === undefined;
  if (call === undefined || !isFirst || envelope.from !== call.target) return undefined;
  const { payload } = envelope;
  if (isObject(payload.result))
    return { proposal: { ...proposal, result: payload.result }, type: "answered" };
  if (isObject(payload.error)) return { proposal: { ...proposal, error: payload.error }, type: "answered" };
  return undefined;
}

export function expire(proposal: Proposal, now: number): Next {
  if (proposal.status !== "pending" || now <= proposal.expiresAt) return undefined;
  return { proposal: { ...proposal, status: "expired" }, type: "expired" };
}

/** Which proposal a call names, if it names one. */
export function namedProposal(envelope: RoomEnvelope): string | undefined {
  return envelope.correlation_id ?? fulfilmentMetaOf(envelope.payload.params)?.proposal;
}

/** Not every gateway bounds such words; longer ones are not remembered. */
function isShort(text: unknown): text is string {
  return typeof text === "string" && text.length <= wordCharsMax;
}
