// A gateway, an oven behind a guard, and people who want it hot; all gone after the test.
import { type JoinOptions, joinRoom, type Room } from "@mcpx/client";
import {
  type AccessKey,
  type AccessPolicy,
  createGuard,
  createKey,
  type Guard,
  type GuardEvent,
  type GuardOptions,
} from "@mcpx/client/guard";
import type { TokenClaims } from "@mcpx/host";
import type { JsonObject } from "@mcpx/protocol";
import { McpServer, type Transport } from "@modelcontextprotocol/server";
import { onTestFinished } from "vitest";
import { z } from "zod";
import { seen, startHouse, topic, wideLimits } from "../../client/support/house.ts";
import type { TestServer, TestServerOptions } from "../../support/test-server.ts";

export { topic, wideLimits };

export interface Person {
  room: Room;
  key: AccessKey;
}

export interface Kitchen {
  server: TestServer;
  oven: Person;
  guard: Guard;
  /** What the tools have done, in order. */
  done: string[];
  /** The `params` of every `tools/call` as the served MCP server gets them, before the SDK reads them. */
  handedOver: JsonObject[];
  events: GuardEvent[];
  /** Somebody comes in, and is seen by the oven. */
  enter(id: string, options?: EnterOptions): Promise<Person>;
}

export interface EnterOptions extends Partial<Pick<TokenClaims, "level" | "kind">> {
  key?: AccessKey;
  join?: Partial<JoinOptions>;
}

export interface KitchenOptions extends Partial<Omit<GuardOptions, "policy">> {
  policy?: AccessPolicy | undefined;
  house?: TestServerOptions;
  /** How the oven joins. */
  join?: Partial<JoinOptions>;
}

export const annMayHeat: AccessPolicy = { mode: "allowlist", rules: [{ agent: "ann", tools: ["heat"] }] };

export async function startKitchen({ house, join = {}, ...options }: KitchenOptions = {}): Promise<Kitchen> {
  const server = await startHouse(house ?? { limits: wideLimits });
  const oven = await enter(server, "oven", { kind: "robot", key: options.key ?? (await createKey()), join });
  const events: GuardEvent[] = [];
  const { policy, ...rest } = options;
  const guard = createGuard({
    ...rest,
    ...(policy === undefined ? {} : { policy }),
    key: oven.key,
    onEvent: (event) => events.push(event),
  });
  const done: string[] = [];
  const handedOver: JsonObject[] = [];
  await oven.room.serve(watched(ovenServer(done), handedOver), { guard });
  return {
    server,
    oven,
    guard,
    done,
    handedOver,
    events,
    async enter(id, more) {
      const person = await enter(server, id, more);
      await seen(oven.room, id);
      await keySeen(oven.room, id);
      await seen(person.room, "oven");
      return person;
    },
  };
}

export async function enter(server: TestServer, id: string, options: EnterOptions = {}): Promise<Person> {
  const { level = "full", kind, key = await createKey(), join } = options;
  const token = await server.token({
    sub: id,
    topics: ["**"],
    level,
    ...(kind === undefined ? {} : { kind }),
  });
  const room = await joinRoom({
    url: server.url,
    topic,
    token,
    key,
    backoff: { minMs: 5, maxMs: 50 },
    ...join,
  });
  onTestFinished(() => room.close());
  return { room, key };
}

export function ovenServer(done: string[]): McpServer {
  const server = new McpServer({ name: "oven", version: "1.0.0" });
  const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] });
  const inputSchema = z.object({ degrees: z.number() });
  server.registerTool("heat", { inputSchema }, ({ degrees }) => {
    done.push(`heat ${degrees}`);
    return text(`${degrees} degrees`);
  });
  server.registerTool("look", { annotations: { readOnlyHint: true } }, () => text("a cake"));
  server.registerTool("burn", { annotations: { destructiveHint: true } }, () => {
    done.push("burn");
    return text("ashes");
  });
  return server;
}

/** The server, with a look at what its transport delivers: the SDK drops `params` that MCP does not know. */
function watched(server: McpServer, calls: JsonObject[]) {
  return {
    close: () => server.close(),
    async connect(transport: Transport) {
      await server.connect(transport);
      const deliver = transport.onmessage;
      transport.onmessage = (message, extra) => {
        if ("method" in message && message.method === "tools/call") calls.push(message.params as JsonObject);
        deliver?.(message, extra);
      };
    },
  };
}

/** Until the room shows somebody's key. */
async function keySeen(room: Room, id: string): Promise<void> {
  const isShown = () => room.peers.some((peer) => peer.id === id && peer.key !== undefined);
  for await (const _ of isShown() ? [] : room.events("presence")) if (isShown()) return;
}
