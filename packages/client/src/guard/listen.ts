// What a guard hears of its room: who comes and goes, what is taken back, what humans say to its questions.
import { isObject, readRevocation, revocationType } from "@mcpx/protocol";
import type { RoomEnvelope } from "../room-envelope.ts";
import { asError } from "../room-error.ts";
import type { RoomEventMap, RoomEventName, RoomListener } from "../room-events.ts";
import { announce } from "./announce.ts";
import { takeRejection } from "./ask-approval.ts";
import { type GuardState, noteKey, nowOf, storeId } from "./guard-state.ts";

/** Until the returned function is called. */
export function listen(state: GuardState, toolsChanged: () => Promise<void>): () => void {
  const { events } = state.core;
  const ends: (() => void)[] = [];
  const on = <Name extends RoomEventName>(name: Name, take: (detail: RoomEventMap[Name]) => void) => {
    const listener: RoomListener<Name> = ({ detail }: { detail: RoomEventMap[Name] }) => take(detail);
    events.add(name, listener);
    ends.push(() => events.remove(name, listener));
  };
  on("presence", (news) => takePresence(state, news));
  on("envelope", (envelope) => takeEnvelope(state, envelope, toolsChanged));
  on("proposal", ({ type, proposal, by }) => {
    if (type === "advice" || type === "rejected") takeRejection(state, proposal.id, by);
  });
  on("state", ({ state: connection }) => {
    // Who came and went meanwhile is not known: what was bound to a connection is over. [AC-8-7]
    if (connection === "reconnecting") state.channels.clear();
    if (connection === "live") void announce(state).catch((error: unknown) => fail(state, error));
  });
  return () => {
    for (const end of ends) end();
  };
}

function takePresence(state: GuardState, { event, participant }: RoomEventMap["presence"]): void {
  const { id: who, key } = participant;
  if (key !== undefined && state.keys.has(who)) noteKey(state, who, key);
  if (event === "heartbeat") return;
  for (const [id, { holder }] of state.channels) if (holder === participant.id) state.channels.delete(id);
}

function takeEnvelope(state: GuardState, envelope: RoomEnvelope, toolsChanged: () => Promise<void>): void {
  const { from, kind, payload } = envelope;
  const isOwn = from === state.core.id;
  if (isOwn && kind === "mcp" && payload.method === "notifications/tools/list_changed") void toolsChanged();
  if (kind !== "system" || !isObject(payload) || payload.type !== revocationType || isOwn) return;
  void takeRevocation(state, envelope).catch((error: unknown) => fail(state, error));
}

/** Of what somebody has passed on; only who passed it on takes it back. [AC-9-7] */
async function takeRevocation(state: GuardState, { from, payload }: RoomEnvelope): Promise<void> {
  const { ids } = readRevocation(payload, nowOf(state));
  const grants = await state.store.grants(nowOf(state));
  const isHolder = grants.some(({ holder, delegations = 0 }) => holder === from && delegations > 0);
  if (!isHolder && !state.delegators.has(from)) return;
  // It ends with what it was made from, at the latest.
  const untilMs = Math.max(0, ...grants.map((grant) => grant.untilMs));
  await state.store.revoke(ids.map((jti) => ({ id: storeId(from, jti), untilMs })));
}

function fail({ core }: GuardState, error: unknown): void {
  core.events.emit("error", asError(error));
}
