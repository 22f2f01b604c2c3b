// Official SDK clients of both versions and eras at the endpoint of a room, with results as they come.
import type { Level } from "@mcpx/protocol";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as ClientOne } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as HttpOne } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { onTestFinished } from "vitest";
import { topic } from "../../../client/support/house.ts";
import { createListening } from "../../../support/listening.ts";
import type { TestServer } from "../../../support/test-server.ts";

export const kinds = ["v1", "v2 legacy", "v2 modern"] as const;
export type Kind = (typeof kinds)[number];

// biome-ignore lint/suspicious/noExplicitAny: the two SDKs' results have the same members
export type Result = any;

interface CallOptions {
  onprogress?: (step: { progress: number; message?: string | undefined }) => void;
  signal?: AbortSignal;
}

export interface RoomEndpointClient {
  /** How often it was told that the tools have changed. */
  readonly changes: () => number;
  readonly instructions: string | undefined;
  tools(): Promise<Result[]>;
  names(): Promise<string[]>;
  call(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<Result>;
  /** Modern clients ask to hear of changes. */
  listen(): Promise<void>;
  close(): Promise<void>;
}

export function roomEndpointUrl(server: Pick<TestServer, "url">, room = topic): string {
  return `${server.url}/rooms/${encodeURIComponent(room)}/mcp?names=canonical`;
}

/** Enters as `id`; full unless another level is given. */
export async function openRoomEndpoint(
  server: TestServer,
  kind: Kind,
  id: string,
  { level = "full", room = topic }: { level?: Level; room?: string } = {},
): Promise<RoomEndpointClient> {
  return openRoomEndpointWith(server, kind, await server.token({ sub: id, topics: [room], level }), room);
}

export async function openRoomEndpointWith(
  server: TestServer,
  kind: Kind,
  token: string,
  room = topic,
): Promise<RoomEndpointClient> {
  const url = new URL(roomEndpointUrl(server, room));
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  const roomEndpoint =
    kind === "v1" ? await one(url, requestInit) : await two(url, requestInit, kind === "v2 modern");
  onTestFinished(() => roomEndpoint.close().catch(() => {}));
  return roomEndpoint;
}

async function one(url: URL, requestInit: object): Promise<RoomEndpointClient> {
  let changes = 0;
  const client = new ClientOne({ name: "sdk-one", version: "1" });
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    changes += 1;
  });
  const listening = createListening();
  const transport = new HttpOne(url, { requestInit, fetch: listening.fetch });
  // Its types are of before `exactOptionalPropertyTypes`.
  await client.connect(transport as unknown as Parameters<typeof client.connect>[0]);
  await listening.opened;
  const tools = async () => (await client.listTools()).tools;
  return {
    changes: () => changes,
    instructions: client.getInstructions(),
    tools,
    names: async () => (await tools()).map(({ name }) => name).sort(),
    call: (name, args = {}, options = {}) => client.callTool({ name, arguments: args }, undefined, options),
    listen: async () => {},
    async close() {
      await transport.terminateSession();
      await client.close();
    },
  };
}

async function two(url: URL, requestInit: object, isModern: boolean): Promise<RoomEndpointClient> {
  let changes = 0;
  const mode = isModern ? { pin: "2026-07-28" } : ("legacy" as const);
  const client = new Client({ name: "sdk-two", version: "1" }, { versionNegotiation: { mode } });
  client.setNotificationHandler("notifications/tools/list_changed", () => {
    changes += 1;
  });
  const listening = createListening();
  const transport = new StreamableHTTPClientTransport(url, { requestInit, fetch: listening.fetch });
  await client.connect(transport);
  if (!isModern) await listening.opened;
  const tools = async () => (await client.listTools()).tools;
  return {
    changes: () => changes,
    instructions: client.getInstructions(),
    tools,
    names: async () => (await tools()).map(({ name }) => name).sort(),
    call: (name, args = {}, options = {}) => client.callTool({ name, arguments: args }, options),
    listen: async () => void (isModern && (await client.listen({ toolsListChanged: true }))),
    async close() {
      if (!isModern) await transport.terminateSession();
      await client.close();
    },
  };
}
