// A server spoken to over MCP's streamable HTTP: each message is a POST, answered with JSON or a stream of events;
// what it says unasked comes over a GET.
import { setTimeout as wait } from "node:timers/promises";
import { isObject, isRequestId, type JsonObject } from "@mcpx/protocol";
import { readEventStream } from "./read-event-stream.ts";
import type { ServerSide, ServerTaker } from "./server-side.ts";

const openMax = 256;
const listenAgainMs = 1_000;
const farewellMs = 2_000;

export async function openHttpServer(url: string, taker: ServerTaker): Promise<ServerSide> {
  return new HttpSide(url, taker);
}

class HttpSide implements ServerSide {
  readonly ended: Promise<string>;
  readonly #url: string;
  readonly #taker: ServerTaker;
  readonly #end: (why: string) => void;
  readonly #closing = new AbortController();
  #session: string | undefined;
  #revision: string | undefined;
  #open = 0;

  constructor(url: string, taker: ServerTaker) {
    const { promise, resolve } = Promise.withResolvers<string>();
    this.#url = url;
    this.#taker = taker;
    this.ended = promise;
    this.#end = resolve;
  }

  send(message: JsonObject): boolean {
    if (this.#open >= openMax) return false;
    this.#open += 1;
    void this.#exchange(message).finally(() => {
      this.#open -= 1;
    });
    return true;
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    this.#end("closed");
    if (this.#session === undefined) return;
    const signal = AbortSignal.timeout(farewellMs);
    await fetch(this.#url, { method: "DELETE", headers: this.#headers(), signal }).catch(() => {});
  }

  async #exchange(message: JsonObject): Promise<void> {
    const { id, method } = message;
    const isRequest = typeof method === "string" && isRequestId(id);
    let isAnswered = false;
    const take = (value: unknown) => {
      if (!isObject(value)) return;
      if (value.id === id && value.method === undefined) {
        isAnswered = true;
        if (method === "initialize" && isObject(value.result)) {
          this.#revision = String(value.result.protocolVersion);
        }
      }
      this.#taker.message(value);
    };
    let fault = "it answered nothing";
    try {
      await this.#post(message, take);
    } catch (error) {
      fault = faultOf(error);
    }
    if (this.#closing.signal.aborted) return;
    if (isRequest && !isAnswered) {
      const error = {
        code: -32603,
        message: `${this.#url}: ${fault}`,
        data: { reason: "server_unreachable" },
      };
      this.#taker.message({ jsonrpc: "2.0", id, error });
    }
    if (method === "notifications/initialized") void this.#listen();
  }

  async #post(message: JsonObject, take: (value: unknown) => void): Promise<void> {
    const response = await fetch(this.#url, {
      method: "POST",
      headers: {
        ...this.#headers(),
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: JSON.stringify(message),
      redirect: "error",
      signal: this.#closing.signal,
    });
    if (message.method === "initialize") this.#session = response.headers.get("mcp-session-id") ?? undefined;
    if (response.status === 404 && this.#session !== undefined) this.#end("its session is over");
    const type = response.headers.get("content-type") ?? "";
    if (type.startsWith("text/event-stream") && response.body !== null) {
      for await (const data of readEventStream(response.body)) take(JSON.parse(data));
    } else if (type.startsWith("application/json")) {
      const value: unknown = await response.json();
      for (const one of Array.isArray(value) ? value : [value]) take(one);
    } else await response.body?.cancel();
    if (!response.ok) throw new Error(`it answered ${response.status}`);
  }

  /** What it says unasked, such as that its tools have changed. Many servers have no such stream. */
  async #listen(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        const headers = { ...this.#headers(), accept: "text/event-stream" };
        const response = await fetch(this.#url, { headers, redirect: "error", signal });
        if (response.status >= 400 && response.status < 500) return void (await response.body?.cancel());
        if (response.ok && response.body !== null) {
          for await (const data of readEventStream(response.body)) {
            const value: unknown = JSON.parse(data);
            if (isObject(value)) this.#taker.message(value);
          }
        }
      } catch {
        // It will be asked again.
      }
      await wait(listenAgainMs, undefined, { signal }).catch(() => {});
    }
  }

  #headers(): Record<string, string> {
    return {
      ...(this.#session !== undefined && { "mcp-session-id": this.#session }),
      ...(this.#revision !== undefined && { "mcp-protocol-version": this.#revision }),
    };
  }
}

function faultOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  const code = isObject(cause) ? cause.code : undefined;
  return typeof code === "string" ? `it cannot be reached (${code})` : error.message;
}
