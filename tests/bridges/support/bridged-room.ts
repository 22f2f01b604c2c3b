// A whole server whose room `ops` is carried by a platform: a robot that moves, an agent that may only propose, and
// people on the platform.

import { join } from "node:path";
import {
  bridgeMigrations,
  createSqliteStore,
  issueCode,
  type Platform,
  type PlatformKind,
} from "@mcpx/bridges";
import { joinRoom, type ProposalHandle, type Room } from "@mcpx/client";
import { openDatabase, type TokenClaims } from "@mcpx/host";
import type { Level } from "@mcpx/protocol";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { expect, onTestFinished } from "vitest";
import { z } from "zod";
import { startTestServer, type TestServer, type TestServerOptions } from "../../support/test-server.ts";

export const topic = "ops";
export const bridgeName = "team";

export interface BridgedRoom {
  readonly server: TestServer;
  readonly store: ReturnType<typeof createSqliteStore>;
  /** What the robot has done. */
  readonly moves: string[];
  join(id: string, claims?: Partial<TokenClaims>): Promise<Room>;
  /** An agent's proposal that the robot moves. */
  propose(where: string, more?: { ttlMs?: number; reason?: string }): ProposalHandle;
  /** A code for a participant, as `mcpx bridge link` makes it. */
  code(participant: string, level?: Level): Promise<string>;
  /** Until the bridge knows which message of its channel that envelope is. */
  isKnown(envelope: string): Promise<void>;
  /** With a bridge that reaches something else, or as before. */
  restart(reach?: string): Promise<void>;
}

export interface BridgeSetup {
  kind: PlatformKind;
  channel: string;
  open(): Platform;
  unlinked?: "read" | "guest";
  /** Further channels of the same room. */
  others?: readonly string[];
  server?: TestServerOptions;
}

export async function startBridgedRoom(setup: BridgeSetup): Promise<BridgedRoom> {
  const { kind, channel, open, unlinked = "read", others = [] } = setup;
  const bridge = {
    name: bridgeName,
    kind,
    channels: new Map([channel, ...others].map((one) => [one, topic])),
    unlinked,
    reach: "the platform of this test",
    open,
  };
  const options = { ...setup.server, bridges: [bridge] };
  const server = await startTestServer(options);
  onTestFinished(() => server.stop());
  const db = openDatabase(join(server.dataDir, "state.db"), {
    component: "bridges",
    migrations: bridgeMigrations,
  });
  onTestFinished(() => db.close());
  const store = createSqliteStore(db);
  const joinAs: BridgedRoom["join"] = async (id, claims = {}) => {
    // For longer than a test's clock is moved.
    const token = await server.token({ sub: id, topics: [topic], level: "full", ...claims }, 86_400_000);
    const room = await joinRoom({ url: server.url, topic, token, backoff: { minMs: 5, maxMs: 50 } });
    onTestFinished(() => room.close());
    return room;
  };
  const moves: string[] = [];
  const robot = await joinAs("robot", { kind: "robot" });
  await robot.serve(() => robotServer(moves));
  const agent = await joinAs("agent", { kind: "agent", level: "restricted" });
  await server.bridges.ready;
  return {
    server,
    store,
    moves,
    join: joinAs,
    propose: (where, { ttlMs = 60_000, reason = "the way is free" } = {}) => {
      const params = { name: "move", arguments: { where } };
      const handle = agent.propose({ to: "robot", method: "tools/call", params, ttlMs, reason });
      handle.result.catch(() => {});
      return handle;
    },
    async code(participant, level) {
      const made = await issueCode(store, { bridge: bridgeName, participant, level }, Date.now());
      expect(made?.code).toMatch(/^[0-9a-z]{5}-[0-9a-z]{5}$/);
      return made?.code ?? "";
    },
    async isKnown(envelope) {
      const place = { bridge: bridgeName, channel, topic };
      await expect.poll(() => store.messageOf(place, envelope)).toBeDefined();
    },
    async restart(reach = bridge.reach) {
      await server.restart({ ...options, bridges: [{ ...bridge, reach }] });
      await server.bridges.ready;
      await expect.poll(() => robot.state).toBe("live");
      await expect.poll(() => agent.state).toBe("live");
    },
  };
}

function robotServer(moves: string[]): McpServer {
  const server = new McpServer({ name: "robot", version: "1.0.0" });
  server.registerTool("move", { inputSchema: { where: z.string() } }, ({ where }) => {
    moves.push(where);
    return { content: [{ type: "text", text: `at ${where}` }] };
  });
  return server as never;
}
