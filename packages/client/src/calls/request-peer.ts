// A request to a peer as callers want it: with the handshake before it, and a second one where the server behind
// the peer turns out to be new.
import type { JsonObject } from "@mcpx/protocol";
import { isNotInitialized } from "../core/refusals.ts";
import type { RoomCore } from "../core/room-core.ts";
import { asError, PeerError, RoomError } from "../core/room-error.ts";
import { shakeHands } from "./handshake.ts";
import { type RequestOptions, sendRequest } from "./request.ts";

interface PeerRequestOptions extends RequestOptions {
  correlation_id?: string | undefined;
}

export async function requestPeer(
  core: RoomCore,
  peer: string,
  method: string,
  params: JsonObject,
  options: PeerRequestOptions = {},
): Promise<JsonObject> {
  const { timeoutMs = core.options.callTimeoutMs } = options;
  const endsAtMs = performance.now() + timeoutMs;
  const left = () => Math.max(0, endsAtMs - performance.now());
  const ask = async () => {
    // To oneself over the room, as a fulfilment is: no introduction needed.
    if (peer !== core.id) await waitFor(shakeHands(core, peer), options.signal, left(), peer);
    if (core.key === undefined || method !== "tools/call") {
      return sendRequest(core, peer, method, params, { ...options, timeoutMs: left() });
    }
    // Most rooms have no guards: those need not load this.
    const { callGuarded } = await import("../guard/call-guarded.ts");
    const fulfils = core.tracker.get(options.correlation_id ?? "");
    return callGuarded(core, core.key, { peer, params, fulfils }, (sent, body, rpcId) => {
      // Asking for a capability fulfils nothing.
      const correlation_id = sent === method ? options.correlation_id : undefined;
      return sendRequest(core, peer, sent, body, { ...options, correlation_id, rpcId, timeoutMs: left() });
    });
  };
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof PeerError && isNotInitialized(error.reason))) throw error;
    core.handshakes.delete(peer);
    return ask();
  }
}

/** Waits for what others wait for too: giving up here ends nothing for them. */
function waitFor<T>(
  shared: Promise<T>,
  signal: AbortSignal | undefined,
  ms: number,
  peer: string,
): Promise<T> {
  if (signal?.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    const finish = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    };
    const giveUp = (error: Error) => {
      finish();
      reject(error);
    };
    const onAbort = () => giveUp(asError(signal?.reason));
    const timer = setTimeout(
      () => giveUp(new RoomError("timeout", `${peer} did not answer initialize within ${Math.round(ms)} ms`)),
      ms,
    );
    signal?.addEventListener("abort", onAbort, { once: true });
    shared.then(
      (value) => {
        finish();
        resolve(value);
      },
      (error: unknown) => giveUp(asError(error)),
    );
  });
}
