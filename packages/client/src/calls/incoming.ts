// Requests of others that are being answered here. A server sees this library's numbers instead of theirs, so that any
// number of peers can share it; answers and progress go back under the ids they came with. [X0-4.1.1-1]

import { isId, isObject, isRequestId, type JsonObject, written } from "@mcpx/protocol";
import { type Refusal, refusals } from "../core/refusals.ts";
import { notify, publish, type RoomCore } from "../core/room-core.ts";
import type { RoomEnvelope } from "../core/room-envelope.ts";
import { type FulfilmentMeta, fulfilmentMetaOf, withFulfilmentMeta } from "../proposals/fulfilment-meta.ts";
import { withProgressToken } from "./request.ts";

export interface Origin {
  peer: string;
  envelopeId: string;
  rpcId: string | number;
  method: string;
  progressToken: unknown;
  /** The proposal this fulfils: its proposer gets the answer too. [X1-4.2.1-3] */
  fulfils: FulfilmentMeta | undefined;
  /** A call to oneself: nothing is published. */
  local?: { answer(message: JsonObject): void; progress(params: JsonObject): void };
  /** Progress on its way to the peer, and the newest that waits behind it. */
  telling?: { next: JsonObject | undefined };
}

const openMax = 1_024;
/** One peer alone cannot keep a server from the others. */
const openPerPeerMax = 256;

export class Incoming {
  readonly #core: RoomCore;
  readonly #origins = new Map<number, Origin>();
  #lastId = 0;

  constructor(core: RoomCore) {
    this.#core = core;
  }

  get size(): number {
    return this.#origins.size;
  }

  /** The request as a server here is to see it; `undefined` where too many are open, of all or of one peer. */
  open(origin: Origin, params: JsonObject | undefined): JsonObject | undefined {
    if (this.#origins.size >= openMax || this.#countOf(origin.peer) >= openPerPeerMax) return undefined;
    this.#lastId += 1;
    const id = this.#lastId;
    this.#origins.set(id, origin);
    const shown = params && origin.progressToken !== undefined ? withProgressToken(params, id) : params;
    return { jsonrpc: "2.0", id, method: origin.method, ...(shown === undefined ? {} : { params: shown }) };
  }

  #countOf(peer: string): number {
    let count = 0;
    for (const origin of this.#origins.values()) if (origin.peer === peer) count += 1;
    return count;
  }

  get(id: unknown): Origin | undefined {
    return typeof id === "number" ? this.#origins.get(id) : undefined;
  }

  /** The number a peer's request has here, by the id the peer gave it. */
  find(peer: string, rpcId: unknown): number | undefined {
    for (const [id, origin] of this.#origins) {
      if (origin.peer === peer && origin.rpcId === rpcId && origin.local === undefined) return id;
    }
    return undefined;
  }

  /** It was cancelled: no answer is wanted. */
  forget(id: number): void {
    this.#origins.delete(id);
  }

  /** Sends a server's response to the participant that asked, and to the proposer behind it. */
  async respond(message: JsonObject): Promise<void> {
    const origin = this.get(message.id);
    if (origin === undefined) return;
    this.#origins.delete(message.id as number);
    // Progress after the end is no news.
    if (origin.telling !== undefined) origin.telling.next = undefined;
    const response = { ...message, id: origin.rpcId };
    if (origin.local !== undefined) origin.local.answer(response);
    else await answer(this.#core, origin, response);
  }

  /** The newest progress wins: at most one envelope per request is on its way. */
  progress(params: JsonObject): void {
    const origin = this.get(params.progressToken);
    if (origin === undefined) return;
    const news = { ...params, progressToken: origin.progressToken };
    if (origin.local !== undefined) origin.local.progress(news);
    else if (origin.telling !== undefined) origin.telling.next = news;
    else void this.#tell(origin, news);
  }

  async #tell(origin: Origin, first: JsonObject): Promise<void> {
    const telling: { next: JsonObject | undefined } = { next: first };
    origin.telling = telling;
    while (telling.next !== undefined) {
      const params = telling.next;
      telling.next = undefined;
      const { peer, envelopeId } = origin;
      await notify(this.#core, [peer], "notifications/progress", params, envelopeId).catch(() => {});
    }
    delete origin.telling;
  }
}

/** Where a request came from; `undefined` for what is no request of MCP. */
export function originOf(core: RoomCore, envelope: RoomEnvelope): Origin | undefined {
  const { from, id, payload } = envelope;
  if (!isRequestId(payload.id) || typeof payload.method !== "string") return undefined;
  const params = isObject(payload.params) ? payload.params : {};
  return {
    peer: from,
    envelopeId: id,
    rpcId: payload.id,
    method: payload.method,
    progressToken: isObject(params._meta) ? params._meta.progressToken : undefined,
    fulfils: fulfilmentOf(core, envelope, params),
  };
}

/** What the tracker knows counts; where it knows nothing, what the call says of itself. */
function fulfilmentOf(
  core: RoomCore,
  { id, from, correlation_id }: RoomEnvelope,
  params: JsonObject,
): FulfilmentMeta | undefined {
  const said = fulfilmentMetaOf(params);
  const proposal =
    core.tracker.get(correlation_id ?? "") ??
    core.tracker.get(said?.proposal ?? "") ??
    core.tracker.all().find(({ fulfilment }) => fulfilment?.envelopeId === id);
  if (proposal !== undefined) return { proposal: proposal.id, proposer: proposal.proposer, fulfiller: from };
  if (said !== undefined) return isId(said.proposer) ? { ...said, fulfiller: from } : undefined;
  // COMPAT: what `tools/request` asked for. [AC-11-2]
  const { onBehalfOf, requestId } = params;
  if (!isId(onBehalfOf) || !isRequestId(requestId)) return undefined;
  return { proposal: written(requestId), proposer: onBehalfOf, fulfiller: from, isCompat: true };
}

function fulfilledResult(result: JsonObject, { isCompat, ...meta }: FulfilmentMeta): JsonObject {
  if (!isCompat) return withFulfilmentMeta(result, meta);
  return { ...result, fulfilledBy: meta.fulfiller, originalRequester: meta.proposer };
}

/** Publishes a response. */
export async function answer(core: RoomCore, origin: Origin, response: JsonObject): Promise<void> {
  const { peer, envelopeId, fulfils } = origin;
  const to = fulfils === undefined ? [peer] : [...new Set([peer, fulfils.proposer])];
  const payload =
    fulfils !== undefined && isObject(response.result)
      ? { ...response, result: fulfilledResult(response.result, fulfils) }
      : response;
  await publish(core, { kind: "mcp", to, correlation_id: envelopeId, payload });
}

/** Publishes an error in answer to a request that nobody here will handle. */
export function refuse(
  core: RoomCore,
  origin: Origin,
  reason: Refusal,
  message: string,
  more: JsonObject = {},
): void {
  const error = { code: refusals[reason], message, data: { reason, ...more } };
  answer(core, origin, { jsonrpc: "2.0", id: origin.rpcId, error }).catch(() => {});
}
