// One JSON-RPC request to one peer over the room: published, answered or cancelled, never forgotten.
import type { JsonObject } from "@mcpx/protocol";
import type { Receipt } from "../connection/outbox.ts";
import { newId } from "../core/new-id.ts";
import { notify, publish, type RoomCore } from "../core/room-core.ts";
import { asError, PeerError, RoomError } from "../core/room-error.ts";
import { type Call, resultOf } from "./calls.ts";

export interface Progress {
  progress: number;
  total?: number;
  message?: string;
}

export interface RequestOptions {
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: Progress) => void) | undefined;
  /** 60 s unless the room was joined with another. */
  timeoutMs?: number | undefined;
}

interface WireOptions extends RequestOptions {
  correlation_id?: string | undefined;
  /** From `nextRpcId`, where it has to be known before. */
  rpcId?: number | undefined;
}

/** Without a handshake; `requestPeer` is what others want. */
export function sendRequest(
  core: RoomCore,
  peer: string,
  method: string,
  params: JsonObject,
  options: WireOptions = {},
): Promise<JsonObject> {
  const { signal, onProgress, timeoutMs = core.options.callTimeoutMs, correlation_id } = options;
  if (signal?.aborted) return Promise.reject(signal.reason);
  if (core.connection.signal.aborted) return Promise.reject(core.connection.signal.reason);
  if (core.connection.state === "live" && peer !== core.id && !core.roster.has(peer)) {
    return Promise.reject(new RoomError("not_here", `${peer} is not in the room`));
  }
  const { promise, resolve, reject } = Promise.withResolvers<JsonObject>();
  const rpcId = options.rpcId ?? core.calls.nextRpcId();
  const call: Call = {
    peer,
    envelopeId: newId(),
    rpcId,
    isPublished: false,
    progress: onProgress && ((news) => tellProgress(core, onProgress, news)),
    answer: (payload) => finish(() => resolve(resultOf(payload))),
    fail: (error) => finish(() => reject(error)),
  };
  const finish = (settle: () => void) => {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
    try {
      settle();
    } catch (error) {
      reject(error);
    }
  };
  const giveUp = (error: Error) => {
    core.calls.delete(call);
    call.fail(error);
    // What has not gone out needs no cancelling; a handshake must not be cancelled. [X0-13.4-1]
    if (core.connection.outbox.takeBack(call.envelopeId, error) || method === "initialize") return;
    const reason = { requestId: rpcId, reason: error.message };
    notify(core, [peer], "notifications/cancelled", reason, call.envelopeId).catch(() => {});
  };
  const onAbort = () => giveUp(asError(signal?.reason));
  const timer = setTimeout(
    () => giveUp(new RoomError("timeout", `${peer} did not answer ${method} within ${timeoutMs} ms`)),
    timeoutMs,
  );
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    core.calls.add(call);
  } catch (error) {
    call.fail(asError(error));
    return promise;
  }
  const asked = onProgress ? withProgressToken(params, rpcId) : params;
  const payload = { jsonrpc: "2.0", id: rpcId, method, params: asked };
  publish(core, { kind: "mcp", to: [peer], correlation_id, id: call.envelopeId, payload }).then(
    (receipt) => notePublished(core, call, receipt),
    (error: unknown) => {
      core.calls.delete(call);
      call.fail(asRefusal(error));
    },
  );
  return promise;
}

/** The gateway has it. Where that was before a gap, its answer may be in there too. */
export function notePublished(core: RoomCore, call: Call, { seq }: Receipt): void {
  call.isPublished = true;
  if (seq === undefined || seq > core.connection.gapEndSeq) return;
  core.calls.failAll(lostInGap(), (other) => other === call);
}

export function lostInGap(): RoomError {
  return new RoomError(
    "gap",
    "the room's history does not reach back to the request; its answer may be lost",
  );
}

/** What the gateway refuses in the peer's place reads as the peer's answer would. */
function asRefusal(error: unknown): Error {
  if (error instanceof RoomError && error.code !== undefined) {
    return new PeerError(error.code, error.message, error.data);
  }
  return asError(error);
}

export function withProgressToken(params: JsonObject, progressToken: string | number): JsonObject {
  return { ...params, _meta: { ...(params._meta as JsonObject | undefined), progressToken } };
}

/** Never lets a listener's fault out; what is no progress is not passed on. */
export function tellProgress(
  core: RoomCore,
  onProgress: (progress: Progress) => void,
  news: JsonObject,
): void {
  const { progress, total, message } = news;
  if (typeof progress !== "number") return;
  try {
    onProgress({
      progress,
      ...(typeof total === "number" ? { total } : {}),
      ...(typeof message === "string" ? { message } : {}),
    });
  } catch (error) {
    core.events.emit("error", asError(error));
  }
}
