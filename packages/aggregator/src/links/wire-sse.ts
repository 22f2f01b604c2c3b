// A server spoken to over the HTTP+SSE transport of 2024-11-05: one stream carries all it says, and its first event
// tells where messages are posted to.
// COMPAT: superseded by streamable HTTP since 2025-03-26.
import { type JsonObject, McpxError } from "@mcpx/protocol";
import { type HttpAddress, HttpCaller } from "./http-caller.ts";
import { HttpRefusal } from "./http-refusal.ts";
import { defaultLinkLimits, type LinkLimits } from "./link-limits.ts";
import { commonReader, isEventStream, readEvents, readText } from "./read-response.ts";
import type { Sending, Wire, WireTaker } from "./wire.ts";

/** Resolves when the server has said where to post; rejects with `server_unreachable` or an `HttpRefusal`. */
export async function openSseWire(
  address: HttpAddress,
  taker: WireTaker,
  signal: AbortSignal,
  limits: Partial<LinkLimits> = {},
): Promise<Wire> {
  const wire = new SseWire(address, taker, limits.messageBytesMax);
  await wire.open(signal);
  return wire;
}

class SseWire implements Wire {
  readonly hasStreams = false;
  readonly ended: Promise<string>;
  readonly #resolveEnded: (why: string) => void;
  readonly #address: HttpAddress;
  readonly #taker: WireTaker;
  readonly #bytesMax: number;
  readonly #stream: HttpCaller;
  #posts: HttpCaller | undefined;
  #why: string | undefined;

  constructor(address: HttpAddress, taker: WireTaker, bytesMax: number = defaultLinkLimits.messageBytesMax) {
    const { promise, resolve } = Promise.withResolvers<string>();
    this.#address = address;
    this.#taker = taker;
    this.#bytesMax = bytesMax;
    this.#stream = new HttpCaller(address);
    this.ended = promise;
    this.#resolveEnded = resolve;
  }

  async open(signal: AbortSignal): Promise<void> {
    const opened = Promise.withResolvers<void>();
    const stop = () => opened.reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    const reader = commonReader(this.#bytesMax, this.#taker, (data, type) => {
      if (type === "endpoint" && this.#posts === undefined) opened.resolve(this.#adopt(data));
    });
    this.#stream.call({
      method: "GET",
      headers: ["accept", "text/event-stream"],
      failed: (error) => opened.reject(error),
      taken: (answer) => {
        if (!isEventStream(answer)) {
          answer.destroy();
          opened.reject(new HttpRefusal(406, undefined));
          return;
        }
        readEvents(answer, reader, (fault) => {
          opened.reject(fault ?? new McpxError("server_unreachable", "its stream ended at once"));
          this.#end(fault?.detail ?? "its stream ended");
        });
      },
    });
    try {
      if (signal.aborted) stop();
      await opened.promise;
    } catch (error) {
      this.#end("never opened");
      throw error;
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  send(message: JsonObject, sending?: Sending): Promise<void> {
    const posts = this.#posts;
    if (this.#why !== undefined || posts === undefined) {
      return Promise.reject(new McpxError("server_unreachable", this.#why ?? "not open"));
    }
    return new Promise((resolve, reject) => {
      posts.call({
        method: "POST",
        headers: ["content-type", "application/json"],
        body: JSON.stringify(message),
        signal: sending?.signal,
        failed: reject,
        taken: (answer) => readText(answer, this.#bytesMax, () => resolve()),
      });
    });
  }

  async close(): Promise<void> {
    this.#end("closed");
  }

  /** Credentials and headers go to nobody but the server they are for. */
  #adopt(data: string): Promise<void> | undefined {
    const base = new URL(this.#address.url);
    const url = URL.parse(data, base.href);
    if (url === null || url.origin !== base.origin) {
      const detail = "it wants messages posted to another origin";
      return Promise.reject(new McpxError("bad_server_answer", detail));
    }
    this.#posts = new HttpCaller({ ...this.#address, url: url.href });
    return undefined;
  }

  #end(why: string): void {
    if (this.#why !== undefined) return;
    this.#why = why;
    this.#stream.stop();
    this.#posts?.stop();
    this.#resolveEnded(why);
  }
}
