// What every client is tried at: trees with a desk behind gates, a human whose key approves, soon, late or never, and a
// room with an oven and somebody who decides about proposals.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { joinRoom, type Room } from "@mcpx/client";
import { type Clock, systemClock, type TokenClaims } from "@mcpx/host";
import type { Decision, GateTerms } from "@mcpx/protocol";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { vi } from "vitest";
import { newKey, sign } from "../../gates/support/gate-room.ts";
import { programArgs } from "../../support/programs.ts";
import { startTestServer, type TestServer } from "../../support/test-server.ts";

const topic = "den";
const patience = { timeout: 15_000 };

export interface Place {
  url: string;
  token: string;
  /** For what the client itself keeps. */
  home: string;
}

/** A tree with a desk behind gates. */
interface GatedTree {
  /** Its endpoint, for a caller of this name that may use everything. */
  tree(id: string): Promise<Place>;
  /** Decides about the one call of this caller that waits. */
  decide(caller: string, decision: Decision): Promise<void>;
  /** What was shredded, line by line. */
  traces(): string[];
}

export interface Stage extends GatedTree {
  /** Whose clock can be moved: people there take their time. */
  readonly slow: GatedTree & { pass(ms: number): void };
  /** Where nobody decides before it is too late. */
  readonly hasty: GatedTree;
  /** The room's endpoint, for a participant of this level. */
  room(id: string, level: "full" | "restricted"): Promise<Place>;
  /** Makes the one call that this participant has proposed. */
  fulfil(proposer: string): Promise<void>;
  /** What the oven was asked for. */
  readonly baked: string[];
  close(): Promise<void>;
}

export async function openStage(): Promise<Stage> {
  const dir = mkdtempSync(join(tmpdir(), "mcpx-clients-"));
  let aheadMs = 0;
  const clock: Clock = {
    now: () => systemClock.now() + aheadMs,
    monotonic: () => systemClock.monotonic() + aheadMs,
  };
  const usual = await openTree(dir);
  const slow = await openTree(dir, { clock, timeout: 86_400_000 });
  const hasty = await openTree(dir, { timeout: 1_000 });
  const { server } = usual;
  const baked: string[] = [];
  const enter = async (id: string) =>
    joinRoom({
      url: server.url,
      topic,
      // All clients together take longer than tokens usually count.
      token: await server.token({ sub: id, topics: [topic], level: "full" }, 86_400_000),
    });
  const oven = await enter("oven");
  await oven.serve(ovenServer(baked) as never);
  const helen = await enter("helen");
  return {
    ...usual.gated,
    slow: {
      ...slow.gated,
      pass(ms) {
        aheadMs += ms;
      },
    },
    hasty: hasty.gated,
    baked,
    room: async (id, level) =>
      placeIn(dir, server, `/rooms/${topic}/mcp`, { sub: id, topics: [topic], level }),
    async fulfil(proposer) {
      const proposed = () => helen.proposals.pending().filter((one) => one.proposer === proposer);
      await helen.proposals.fulfil(await vi.waitFor(() => only(proposed()), patience));
    },
    async close() {
      for (const room of [oven, helen] satisfies Room[]) await room.close();
      for (const { server } of [usual, slow, hasty]) await server.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function placeIn(dir: string, server: TestServer, path: string, claims: TokenClaims): Promise<Place> {
  const home = mkdtempSync(join(dir, "home-"));
  return { url: `${server.url}${path}`, token: await server.token(claims, 86_400_000), home };
}

interface TreeOptions {
  clock?: Clock;
  /** How long a call waits for its decision, in ms. */
  timeout?: number;
}

async function openTree(
  dir: string,
  { clock, timeout }: TreeOptions = {},
): Promise<{ server: TestServer; gated: GatedTree }> {
  const file = join(mkdtempSync(join(dir, "tree-")), "traces");
  const alice = newKey();
  const args = [...programArgs("tests/clients/support/desk-server.ts"), file];
  const anchors = [{ name: "alice", jwk: alice.jwk as { kty: string } }];
  const server = await startTestServer({
    ...(clock && { clock }),
    config: {
      mcpServers: { papers: { command: process.execPath, args, trusted: true } },
      // Short, so that every client is told to wait.
      gates: { hold: 100, anchors, ...(timeout !== undefined && { timeout }) },
    },
  });
  return {
    server,
    gated: {
      tree: (id) => placeIn(dir, server, "/mcp", { sub: id, topics: [], tools: ["**"] }),
      async decide(caller, decision) {
        // Minted anew: the stage may stand longer than a token counts.
        const admin = await server.adminToken();
        const id = await vi.waitFor(async () => {
          const { body } = await server.call("GET", "/admin/gates?status=pending", admin);
          const gates: { id: string; principal: string }[] = body.gates;
          return only(gates.filter(({ principal }) => principal === caller)).id;
        }, patience);
        const { body } = await server.call("GET", `/approve/${id}/call`);
        const proof = await sign(body.terms as GateTerms, decision, alice, "not on a Friday");
        const { status } = await server.call("POST", `/approve/${id}/decision`, undefined, { proof });
        if (status !== 200) throw new Error(`the decision was refused: ${status}`);
      },
      traces: () => (existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : []),
    },
  };
}

function only<T>(found: readonly T[]): T {
  const [one] = found;
  if (one === undefined || found.length > 1) throw new Error(`${found.length} calls wait`);
  return one;
}

function ovenServer(baked: string[]): Server {
  const server = new Server({ name: "oven", version: "1.0.0" }, { capabilities: { tools: {} } });
  const inputSchema = { type: "object" as const, properties: { loaf: { type: "string" } } };
  const tools = [{ name: "bake", description: "Bakes a loaf", inputSchema }];
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
    const loaf = String(params.arguments?.loaf);
    baked.push(loaf);
    return { content: [{ type: "text", text: `${loaf} is baked` }] };
  });
  return server;
}
