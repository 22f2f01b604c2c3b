// What becomes of a room's proposals, written to the audit once it is in the room's log: who decided, which tool, never
// arguments or results. What waits at a gate is told by the gate's own records. [B-AUDIT-1]
import { hash } from "node:crypto";
import {
  type Action,
  canonicalJson,
  type Envelope,
  isObject,
  isTimestamp,
  type JsonObject,
  timestampMs,
} from "@mcpx/protocol";
import type { Gateway } from "../room/gateway-state.ts";
import type { OpenProposal } from "../room/open-proposals.ts";
import type { Member } from "../room/room.ts";

/** As every participant assumes where a proposal does not say. */
const ttlMsDefault = 300_000;
const metaKey = "org.mcpx/proposal";

export interface Decided {
  action: Action;
  envelope: Envelope;
  /** Where it stands in the log, and when. */
  seq: number;
  at: number;
}

export function recordDecision(gateway: Gateway, member: Member, decided: Decided): void {
  const { openProposals } = gateway;
  const { action, envelope, at } = decided;
  const { topic } = member.room;
  if (action === "proposal") {
    const opened = openedBy(member, decided);
    if (opened === undefined) return;
    openProposals.add(opened);
    for (const listener of gateway.proposalListeners) listener(opened);
    return;
  }
  if (openProposals.size === 0) return;
  for (const id of namedIn(action, envelope)) {
    const proposal = openProposals.find(topic, id, at);
    if (proposal !== undefined) decide(gateway, member.participant.id, proposal, decided);
  }
}

/** Once a second. */
export function recordExpired(gateway: Gateway): void {
  const { openProposals, audit, clock } = gateway;
  for (const proposal of openProposals.expire(clock.now())) {
    const { proposer, topic } = proposal;
    audit.record({ action: "proposal.expired", actor: proposer, topic, detail: detailOf(proposal) });
    count(gateway, proposal, "expired");
  }
}

function decide(gateway: Gateway, by: string, proposal: OpenProposal, decided: Decided) {
  const { openProposals, audit } = gateway;
  const { envelope, seq } = decided;
  const { topic, proposer } = proposal;
  const words = pick(envelope.payload, ["reason", "code"]);
  const record = (action: string, subject: string | undefined, more: JsonObject) =>
    audit.record({
      ...{ action: `proposal.${action}`, actor: by, topic },
      ...(subject !== undefined && { subject }),
      detail: { ...detailOf(proposal), seq, ...more },
    });
  if (decided.action === "reject") {
    const heard = openProposals.reject(proposal, by);
    if (heard === "rejected") end(gateway, proposal, "rejected");
    if (heard !== undefined) record(heard, proposer, words);
  } else if (decided.action === "withdraw") {
    if (by !== proposer) return;
    end(gateway, proposal, "withdrawn");
    record("withdrawn", undefined, words);
  } else {
    end(gateway, proposal, "fulfilled");
    record("fulfilled", envelope.to[0], { proposer, ...calledAs(proposal, envelope) });
  }
}

function end(gateway: Gateway, proposal: OpenProposal, outcome: string): void {
  gateway.openProposals.end(proposal);
  count(gateway, proposal, outcome);
}

function count({ metrics, clock }: Gateway, { openedAt }: OpenProposal, outcome: string): void {
  metrics.proposals.inc({ outcome });
  metrics.proposalDecision.observe({ outcome }, Math.max(0, clock.now() - openedAt) / 1_000);
}

/** Nothing where the tree shows what waits at one of its gates. */
function openedBy({ room, participant }: Member, { envelope, seq, at }: Decided): OpenProposal | undefined {
  const { payload, to, id } = envelope;
  if (participant.own === true && isObject(payload.mcpax)) return undefined;
  const { ttl_ms: ttlMs, expires_at: expiresAt } = payload;
  const ends = [
    ...(typeof ttlMs === "number" ? [at + ttlMs] : []),
    ...(isTimestamp(expiresAt) ? [timestampMs(expiresAt)] : []),
  ];
  return {
    ...{ topic: room.topic, id, seq, proposer: participant.id, targets: to },
    method: String(payload.method),
    tool: toolOf(payload),
    digest: digestOf(payload),
    openedAt: at,
    expiresAt: ends.length === 0 ? at + ttlMsDefault : Math.min(...ends),
    rejectedBy: new Set(),
  };
}

/** The proposals an envelope is about, where it is about any. */
function namedIn(action: Action, { correlationId, payload }: Envelope): readonly string[] {
  const one = correlationId === undefined ? [] : [correlationId];
  switch (action) {
    case "reject":
      return one;
    case "withdraw":
      return Array.isArray(payload.proposals) ? [...one, ...payload.proposals.map(String)] : one;
    case "mcp.request":
      return one.length > 0 ? one : namedInMeta(payload);
    default:
      return [];
  }
}

function namedInMeta({ params }: JsonObject): readonly string[] {
  const meta = isObject(params) && isObject(params._meta) ? params._meta[metaKey] : undefined;
  return isObject(meta) && typeof meta.proposal === "string" ? [meta.proposal] : [];
}

function detailOf({ id, method, tool }: OpenProposal): JsonObject {
  return { proposal: id, method, ...(tool !== undefined && { tool }) };
}

/** The tool that was called, and whether anything but what was proposed. */
function calledAs(proposal: OpenProposal, { payload, to }: Envelope): JsonObject {
  const { targets, digest, tool: proposedTool } = proposal;
  const isTarget = targets.length === 0 || targets.includes(String(to[0]));
  const changed = !isTarget || digest === undefined || digestOf(payload) !== digest;
  const tool = toolOf(payload);
  return {
    changed,
    ...(tool !== undefined && { tool }),
    ...(tool !== proposedTool && { proposedTool: proposedTool ?? null }),
  };
}

function toolOf({ method, params }: JsonObject): string | undefined {
  return method === "tools/call" && isObject(params) ? String(params.name).slice(0, 256) : undefined;
}

/** `_meta` carries what nobody proposed. */
function digestOf({ method, params }: JsonObject): string | undefined {
  const { _meta: _, ...rest } = isObject(params) ? params : {};
  try {
    return hash("sha256", canonicalJson({ method: String(method), params: rest }), "base64url");
  } catch {
    // A number or a text without a canonical form is like nothing else.
    return undefined;
  }
}

function pick(payload: JsonObject, keys: readonly string[]): JsonObject {
  const said = keys.flatMap((key) =>
    typeof payload[key] === "string" ? [[key, payload[key].slice(0, 256)]] : [],
  );
  return Object.fromEntries(said);
}
