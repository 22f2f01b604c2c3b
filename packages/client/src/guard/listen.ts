// What a guard is told of its room: who comes and goes, what is revoked, what humans say to its questions.
import { isId, isObject, readRevocation, revocationType } from "@mcpx/protocol";
import { gatewayId, type RoomEnvelope } from "../core/room-envelope.ts";
import { asError } from "../core/room-error.ts";
import type { RoomEventMap, RoomEventName, RoomListener } from "../core/room-events.ts";
import { announce } from "./announce.ts";
import { takeRejection } from "./ask-approval.ts";
import { type GuardState, noteKey, nowOf, storeId, tell } from "./guard-state.ts";

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

/**
 * Only who gave it, or passed it on, takes it back, or an admin in their place: then the gateway says whose it was.
 * [AC-9-7]
 */
async function takeRevocation(state: GuardState, { from, payload }: RoomEnvelope): Promise<void> {
  const { ids } = readRevocation(payload, nowOf(state));
  const grants = await state.store.grants(nowOf(state));
  const issuer = from === gatewayId ? payload.issuer : from;
  if (!isId(issuer)) return;
  const isOwn = issuer === state.core.id;
  const isHolder = grants.some(({ holder, delegations = 0 }) => holder === issuer && delegations > 0);
  if (!isOwn && !isHolder && !state.delegators.has(issuer)) return;
  // It ends with what it was made from, at the latest.
  const untilMs = Math.max(0, ...grants.map((grant) => grant.untilMs));
  await state.store.revoke(ids.map((jti) => ({ id: storeId(issuer, jti), untilMs })));
  const own = isOwn ? grants.filter(({ jti }) => ids.includes(jti)) : [];
  for (const { holder, jti } of own) tell(state, { type: "revoked", from: holder, jti });
}

function fail({ core }: GuardState, error: unknown): void {
  core.events.emit("error", asError(error));
}
