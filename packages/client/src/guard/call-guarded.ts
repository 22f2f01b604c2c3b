// A call by somebody with a key: with the capability it has for it, and where the owner wants one that it has not, it
// asks once and calls again. Nothing has happened at the owner's until then. [AC-4-1] [AC-9-1] [AC-10-2]

import {
  type AccessKey,
  type CapabilityToken,
  capabilityMethods,
  isObject,
  type JsonObject,
  signProof,
  toBase64url,
  written,
} from "@mcpx/protocol";
import { newId } from "../core/new-id.ts";
import { type RoomCore, roomNow } from "../core/room-core.ts";
import { PeerError, RoomError } from "../core/room-error.ts";
import { isAsProposed } from "../proposals/decide.ts";
import type { Proposal } from "../proposals/proposal.ts";
import { heldIn } from "./held-capabilities.ts";

export interface GuardedCall {
  peer: string;
  params: JsonObject;
  /** It goes as a proposal, which carries what it was allowed by in `_meta`. */
  isProposed?: boolean;
  /** The proposal it fulfils: there is one attempt, and its proposer may have brought what it takes. */
  fulfils?: Proposal | undefined;
}

/** Sends under one of the two ids, whichever is its own. */
type Send = (method: string, params: JsonObject, rpcId: number, proposalId: string) => Promise<JsonObject>;

/** Another capability may help; what is denied or not approved stays so. */
const worthAsking = [
  "missing",
  "malformed",
  "expired",
  "wrong_holder",
  "wrong_channel",
  "wrong_topic",
  "tool_not_covered",
  "uses_exhausted",
];
/** What is nearly over is refreshed before it is used. */
const refreshShare = 0.1;

export async function callGuarded(
  core: RoomCore,
  key: AccessKey,
  call: GuardedCall,
  send: Send,
): Promise<JsonObject> {
  const tool = written(call.params.name);
  const held = heldIn(core);
  if (isBroughtByProposer(call)) return sendOnce(core, key, call, undefined, send);
  const known = held.find(call.peer, tool, core.connectionId, roomNow(core));
  const capability = await (known === undefined
    ? obtainedBefore(core, call, tool, send)
    : refreshed(core, call.peer, known, send));
  try {
    return await sendOnce(core, key, call, capability, send);
  } catch (error) {
    const reason = error instanceof PeerError && error.code === -32003 ? error.reason : undefined;
    if (capability !== undefined && reason !== undefined) held.drop(capability);
    if (reason === undefined || !worthAsking.includes(reason)) throw error;
    return sendOnce(core, key, call, await obtain(core, call.peer, { tools: [tool] }, send), send);
  }
}

function isBroughtByProposer({ fulfils, params, peer }: GuardedCall): boolean {
  const isCarried = isObject(params._meta) && params._meta.capability !== undefined;
  return fulfils !== undefined && isCarried && isAsProposed(fulfils, peer, { method: "tools/call", params });
}

/** A fulfilment that is refused is over: a caller without one asks first, and calls without it where none is given. */
async function obtainedBefore(
  core: RoomCore,
  { fulfils, peer }: GuardedCall,
  tool: string,
  send: Send,
): Promise<CapabilityToken | undefined> {
  if (fulfils === undefined) return undefined;
  return obtain(core, peer, { tools: [tool] }, send).catch((error: unknown) => {
    if (error instanceof PeerError) return undefined;
    throw error;
  });
}

async function sendOnce(
  core: RoomCore,
  key: AccessKey,
  { peer, params, isProposed = false }: GuardedCall,
  capability: CapabilityToken | undefined,
  send: Send,
): Promise<JsonObject> {
  const rpcId = core.calls.nextRpcId();
  const proposalId = newId();
  if (capability === undefined) return send("tools/call", params, rpcId, proposalId);
  const { jti, channel } = capability.claims;
  const call = {
    capability: jti,
    tool: written(params.name),
    arguments: params.arguments ?? {},
    topic: core.topic,
    target: peer,
    request: isProposed ? proposalId : rpcId,
    ...(channel === undefined ? {} : { channel: core.connectionId }),
  };
  const nonce = toBase64url(crypto.getRandomValues(new Uint8Array(16)));
  const timestamp = new Date(roomNow(core)).toISOString();
  const carried = { capability: capability.text, proof: await signProof(key, call, { timestamp, nonce }) };
  const meta = isObject(params._meta) ? params._meta : {};
  const body = isProposed ? { ...params, _meta: { ...meta, ...carried } } : { ...params, ...carried };
  return send("tools/call", body, rpcId, proposalId);
}

/** [AC-9-8] */
async function refreshed(
  core: RoomCore,
  peer: string,
  capability: CapabilityToken,
  send: Send,
): Promise<CapabilityToken> {
  const { exp, iat, tools, jti, parent } = capability.claims;
  const isNearlyOver = exp - roomNow(core) / 1_000 < refreshShare * (exp - iat);
  // Who has it from somebody else cannot ask the owner for it.
  if (!isNearlyOver || parent !== undefined) return capability;
  // It is good for a while still: no reason to fail.
  return obtain(core, peer, { tools, refresh: jti }, send).catch(() => capability);
}

function obtain(core: RoomCore, peer: string, wish: JsonObject, send: Send): Promise<CapabilityToken> {
  const held = heldIn(core);
  const name = JSON.stringify([peer, wish]);
  const joined = held.asking.get(name);
  // Who asked first may have given up for reasons of its own.
  if (joined !== undefined) return joined.catch(() => request(core, peer, wish, send));
  const asking = request(core, peer, wish, send);
  held.asking.set(name, asking);
  const done = () => {
    if (held.asking.get(name) === asking) held.asking.delete(name);
  };
  asking.then(done, done);
  return asking;
}

async function request(core: RoomCore, peer: string, wish: JsonObject, send: Send): Promise<CapabilityToken> {
  const { token } = await send(capabilityMethods.request, wish, core.calls.nextRpcId(), newId());
  if (typeof token !== "string")
    throw new RoomError("bad_answer", `${peer} answered with a capability that is not a string`);
  return heldIn(core).add(peer, token);
}
