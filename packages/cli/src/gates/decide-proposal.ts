// Approving and rejecting proposals, for the chat line and for the commands.
import type { Progress, Proposal, Room } from "@mcpx/client";
import { isObject, type JsonObject } from "@mcpx/protocol";
import { Failure } from "../framework/failure.ts";
import { onlyWithIdPrefix } from "../framework/id-prefix.ts";

/** Nobody types so many of a longer one: it is meant as it stands. */
const wholeCharsMin = 16;

export interface FulfilOptions {
  /** Whom to ask, where the proposal leaves it open. */
  target?: string | undefined;
  /** Arguments that shall be others than proposed. */
  changes?: JsonObject | undefined;
  signal?: AbortSignal | undefined;
  onProgress?: (progress: Progress) => void;
}

/**
 * By its id, or the beginning of it where that is clear; throws why it cannot be decided on. Proposers choose their
 * ids: what is short, and both an id and the beginning of another, is not clear.
 */
export function findPending(room: Room, id: string, what: "approved" | "rejected"): Proposal {
  const { proposals, topic } = room;
  const whole = proposals.get(id);
  const proposal =
    id.length >= wholeCharsMin && whole ? whole : (onlyWithIdPrefix(id, proposals.all()) ?? whole);
  const why = whyNotPending(room, proposal?.id ?? id);
  if (proposal !== undefined && why === undefined) return proposal;
  throw new Failure(`${id} cannot be ${what}: ${why}`, `see mcpx pending ${topic}`);
}

/** `undefined`, or why it cannot be decided on any more. */
export function whyNotPending(room: Room, id: string): string | undefined {
  const proposal = room.proposals.get(id);
  if (proposal === undefined) return "there is no open or recent proposal with this id";
  return proposal.status === "pending" ? undefined : `it is ${proposal.status} already`;
}

/** Does what was proposed, in our own name; resolves with the result. */
export async function approveProposal(
  room: Room,
  proposal: Proposal,
  approval: FulfilOptions,
): Promise<JsonObject> {
  const { changes, signal, onProgress } = approval;
  if (room.level !== "full") {
    throw new Failure(`you are ${room.level} here and may not call`, "only level full can approve");
  }
  const target = approval.target ?? (proposal.targets.length === 1 ? proposal.targets[0] : undefined);
  if (target === undefined) {
    const names = proposal.targets.length === 0 ? "nobody" : proposal.targets.join(" and ");
    throw new Failure(`the proposal names ${names}`, "name one participant: --to NAME");
  }
  return room.proposals.fulfil(proposal, {
    target,
    ...(changes && { params: changedParams(proposal, changes) }),
    ...(signal && { signal }),
    ...(onProgress && { onProgress }),
  });
}

/** Rejects it; resolves to whether that ended it. Only a target's rejection does, from others it is advice. */
export async function rejectProposal(room: Room, proposal: Proposal, reason: string): Promise<boolean> {
  await room.proposals.reject(proposal, { reason });
  return room.proposals.get(proposal.id)?.status === "rejected";
}

function changedParams({ method, params }: Proposal, changes: JsonObject): JsonObject {
  if (method !== "tools/call") return { ...params, ...changes };
  const given = isObject(params.arguments) ? params.arguments : {};
  return { ...params, arguments: { ...given, ...changes } };
}
