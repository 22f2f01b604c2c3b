// One connection to a room, as `tail` needs it: a ticket, a WebSocket, texts in and envelopes out.
import { randomUUID } from "node:crypto";
import { get as getHttp } from "node:http";
import { get as getHttps } from "node:https";
import { json } from "node:stream/consumers";
import type { JsonObject } from "@mcpx/protocol";
import {
  callGateway,
  type Entrance,
  type GatewayAccess,
  refusal,
  unreachable,
} from "../access/gateway-access.ts";
import { Failure } from "../framework/failure.ts";

export interface RoomEnd {
  code: number;
  reason: string;
}

export interface RoomSocket {
  /** The id of the envelope that went out. */
  send(kind: string, payload: JsonObject): string;
  close(): void;
  /** Resolves when the connection has ended, on either side. */
  ended: Promise<RoomEnd>;
}

export interface RoomWishes {
  topic: string;
  /** Further parameters of the address. */
  query?: Readonly<Record<string, string>>;
  onText(text: string): void;
}

/** Resolves once the gateway has let us in; throws a Failure that says whether to try again. */
export async function connectRoom(access: GatewayAccess, wishes: RoomWishes): Promise<RoomSocket> {
  const entrance = await access.enter();
  const socket = new WebSocket(await roomUrl(entrance, wishes));
  socket.addEventListener("message", ({ data }) => wishes.onText(String(data)));
  const ended = new Promise<RoomEnd>((resolve) => {
    socket.addEventListener("close", ({ code, reason }) => resolve({ code, reason }));
  });
  const isOpen = await new Promise<boolean>((resolve) => {
    socket.addEventListener("open", () => resolve(true));
    // Every failure ends in a close, so the error itself needs no answer.
    socket.addEventListener("error", () => undefined);
    void ended.then(() => resolve(false));
  });
  if (!isOpen) throw await whyRefused(entrance, wishes);
  return {
    send(kind, payload) {
      const id = randomUUID();
      socket.send(JSON.stringify({ protocol: "mcpx/v0.1", id, kind, payload }));
      return id;
    },
    close: () => socket.close(1000),
    ended,
  };
}

/** Each needs a ticket of its own: they work once. */
async function roomUrl(entrance: Entrance, { topic, query }: RoomWishes): Promise<URL> {
  const { ticket } = await callGateway(entrance, "POST", "/v0/tickets", { topic });
  const url = new URL("/v0/ws", entrance.url);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  url.search = new URLSearchParams({ ...query, topic, ticket: String(ticket) }).toString();
  return url;
}

/** The WebSocket of the platform hides the gateway's answer, so the same is asked again in plain HTTP. */
async function whyRefused(entrance: Entrance, wishes: RoomWishes): Promise<Failure> {
  const url = await roomUrl(entrance, wishes);
  url.protocol = url.protocol === "wss:" ? "https:" : "http:";
  const get = url.protocol === "https:" ? getHttps : getHttp;
  const key = Buffer.from(randomUUID().slice(0, 16)).toString("base64");
  const headers = {
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": key,
  };
  return new Promise((resolve) => {
    const request = get(url, { headers, timeout: 10_000 });
    request.on("upgrade", (_, socket) => {
      socket.destroy();
      resolve(new Failure(`${entrance.url} refused the connection`, "try again", { isTemporary: true }));
    });
    request.on("response", async (response) => {
      const answer = await json(response).catch(() => undefined);
      resolve(refusal(entrance.url, response.statusCode ?? 0, answer));
    });
    request.on("timeout", () => request.destroy());
    request.on("error", (error) => resolve(unreachable(entrance.url, error)));
  });
}
