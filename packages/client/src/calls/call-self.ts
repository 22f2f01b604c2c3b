// A call to oneself: handed to what is served here, nothing is published.
import type { JsonObject } from "@mcpx/protocol";
import { refusals } from "../core/refusals.ts";
import type { RoomCore } from "../core/room-core.ts";
import { asError, PeerError, RoomError } from "../core/room-error.ts";
import { type RequestOptions, tellProgress } from "./request.ts";

export async function callSelf(
  core: RoomCore,
  method: string,
  params: JsonObject,
  { signal, onProgress, timeoutMs = core.options.callTimeoutMs }: RequestOptions,
): Promise<JsonObject> {
  if (core.callSelf === undefined)
    throw new PeerError(refusals.not_served, "Nothing is served here", { reason: "not_served" });
  const abort = new AbortController();
  const onAbort = () => abort.abort(asError(signal?.reason));
  if (signal?.aborted) onAbort();
  signal?.addEventListener("abort", onAbort, { once: true });
  const late = new RoomError("timeout", `no answer to ${method} within ${timeoutMs} ms`);
  const timer = setTimeout(() => abort.abort(late), timeoutMs);
  try {
    return await core.callSelf(method, params, {
      signal: abort.signal,
      onProgress: onProgress && ((news) => tellProgress(core, onProgress, news)),
    });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}
