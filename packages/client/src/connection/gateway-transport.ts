// How a gateway is reached: over the network with a token, or inside its own process.

import type { JsonObject } from "@mcpx/protocol";
import { written } from "@mcpx/protocol";
import { RoomError } from "../core/room-error.ts";
import type { JoinOptions } from "../room/join-room.ts";
import { callGateway, httpBase } from "./ticket.ts";
import { TokenSource } from "./token-source.ts";
import type { WebSocketConstructor, WebSocketLike } from "./web-socket.ts";

/** A gateway in the same process. What it refuses it rejects with a `RoomError`. */
export interface LocalGateway {
  /** With the query of `GET /v0/ws`. */
  connect(query: URLSearchParams): Promise<WebSocketLike>;
  /** With the query of `GET /v0/topics/{topic}/history`. */
  history(query: URLSearchParams): Promise<JsonObject>;
}

export interface GatewayTransport {
  /** Where there are no tokens there is nothing to renew. */
  readonly tokens: TokenSource | undefined;
  /** Resolves with what opens the connection. */
  prepare(query: URLSearchParams, signal: AbortSignal): Promise<() => WebSocketLike>;
  /** A page, and its text where it came over the network. */
  history(
    topic: string,
    query: URLSearchParams,
    signal: AbortSignal,
  ): Promise<{ page: JsonObject; text: string }>;
}

export function gatewayTransport(options: JoinOptions): GatewayTransport {
  const { gateway, url = "" } = options;
  if (gateway !== undefined) return localTransport(gateway);
  const Socket = options.WebSocket ?? (globalThis.WebSocket as WebSocketConstructor | undefined);
  if (Socket === undefined)
    throw new RoomError("bad_option", "this platform has no WebSocket: give the option WebSocket");
  const base = httpBase(url);
  const tokens = new TokenSource(options);
  return {
    tokens,
    prepare: async (query, signal) => {
      const body = { topic: query.get("topic") };
      const init = { method: "POST", body, signal };
      const { ticket } = await callGateway(`${base}/v0/tickets`, await tokens.current(), init);
      query.set("ticket", written(ticket));
      return () => new Socket(`${base.replace(/^http/, "ws")}/v0/ws?${query}`);
    },
    history: async (topic, query, signal) => {
      const path = `/v0/topics/${encodeURIComponent(topic)}/history?${query}`;
      let text = "";
      const heard = (answer: string) => {
        text = answer;
      };
      const page = await callGateway(`${base}${path}`, await tokens.current(), { signal, heard });
      return { page, text };
    },
  };
}

function localTransport(gateway: LocalGateway): GatewayTransport {
  return {
    tokens: undefined,
    prepare: async (query, signal) => {
      const socket = await gateway.connect(query);
      const close = () => socket.close();
      if (signal.aborted) close();
      signal.addEventListener("abort", close, { once: true });
      return () => socket;
    },
    history: async (_, query) => ({ page: await gateway.history(query), text: "" }),
  };
}
