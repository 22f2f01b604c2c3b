// Names from the root's segment on, as the draft prints them, over real sockets; and a data directory from before.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Config, treeSettings } from "@mcpx/cli";
import { afterEach, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../support/test-server.ts";
import { ask, callTool, type Place, textOf } from "../support/ask.ts";
import { stdioBackend } from "../support/backends.ts";
import { connectSdk, kinds } from "../support/sdk-callers.ts";
import { startBelow, stopAll } from "./support/family.ts";
import {
  type Message,
  type RawRegistrant,
  rawRegistrant,
  registrationOf,
  toolOf,
} from "./support/raw-registrant.ts";

const started: TestServer[] = [];
const registrants: RawRegistrant[] = [];

afterEach(async () => {
  for (const one of registrants.splice(0)) one.cut();
  await stopAll(started.splice(0));
});

async function enter({ url, token }: TestServer, tools: string[], query = ""): Promise<Place> {
  return { url: `${url}/mcp${query}`, token: await token({ sub: "alice", topics: [], tools }) };
}

async function namesAt(place: Place): Promise<string[]> {
  const { message } = await ask(place, "tools/list");
  return message.result.tools
    .map(({ name }: Message) => name)
    .filter((name: string) => !name.includes("mcpax"));
}

const full = "infra.edge.stm32h7.dma2d_status";

/** Three aggregators: `infra`, below it `edge`, below that `stm32h7`, which tells how a call has come to it. */
async function draftTree(): Promise<{ root: TestServer; edge: TestServer; seen: Message[] }> {
  const root = await startTestServer({ config: { segment: "infra" } });
  const edge = await startBelow(root, "edge");
  started.push(root, edge);
  const token = await edge.token({ sub: "stm", topics: [], segment: "stm32h7", scope: "write" } as never);
  const seen: Message[] = [];
  const gateway = await rawRegistrant(edge.url, token, {
    parentId: null,
    tools: [toolOf("dma2d_status")],
    capabilities: { tools: {}, extensions: { "org.mcpax/aggregator": {} } },
    call: (params) => {
      seen.push(params);
      return { content: [{ type: "text", text: "idle" }] };
    },
  });
  registrants.push(gateway);
  await gateway.register(registrationOf("stm32h7", { "x-mcpax-subtree-ids": [randomUUID()] }));
  return { root, edge, seen };
}

test("[AX-3.1-1] [AX-4.1-1] [AX-7.2-1] the draft's own example: one name from the root on, in lists, calls and routes", async () => {
  const { root, edge, seen } = await draftTree();
  const everything = await root.token({ sub: "model", topics: [], tools: ["**"] });
  await expect.poll(async () => namesAt(await enter(root, ["**"]))).toEqual([full]);
  for (const kind of kinds) {
    const model = await connectSdk(kind, { url: `${root.url}/mcp?names=canonical`, token: everything });
    expect(await model.tools()).toContain(full);
    expect(await model.call(full)).toBe("idle");
    expect(await model.call("edge.stm32h7.dma2d_status")).toBe("idle");
    await model.close();
  }
  expect(seen).toHaveLength(2 * kinds.length);
  for (const { name, _meta } of seen) {
    expect(name).toBe("dma2d_status");
    expect(_meta).toMatchObject({
      "x-mcpax-route": ["infra", "edge", "stm32h7", "dma2d_status"],
      "x-mcpax-cursor": 2,
    });
  }
  // Its parent gives the tree below its segment; at its own endpoint its names begin with its servers'.
  expect(await namesAt(await enter(edge, ["**"]))).toEqual(["stm32h7.dma2d_status"]);
  const safe = await enter(root, ["infra.edge.**"], "?names=safe");
  expect(await namesAt(safe)).toEqual(["infra__edge__stm32h7__dma2d_status"]);
  expect(textOf(await callTool(safe, "edge__stm32h7__dma2d_status"))).toBe("idle");
});

test("[AX-3.1-1] [AX-4.2-1] nobody registers under the root's own segment, and no configured server has it", async () => {
  const root = await startTestServer({ config: { segment: "infra" } });
  started.push(root);
  const token = await root.token({ sub: "twin", topics: [], segment: "infra", scope: "write" } as never);
  const twin = await rawRegistrant(root.url, token, { parentId: null, tools: [toolOf("t")] });
  registrants.push(twin);
  expect((await twin.register(registrationOf("infra"))).error.data.reason).toBe("namespace_conflict");
  const world = { dir: ".", env: {} };
  const mcpServers = { infra: { command: "true" } };
  expect(() => treeSettings({ segment: "infra", mcpServers }, world)).toThrow(
    /the segment infra belongs to this tree/,
  );
  expect(() => treeSettings({ segment: "mcpax" }, world)).toThrow(/belongs to mcpx itself/);
  const parents = [{ url: root.url, segment: "x", token }];
  expect(treeSettings({ segment: "infra", mcpServers, parents }, world)).toMatchObject({
    rootSegment: undefined,
  });
});

/** What versions without root names have not written. */
function forgetRoot({ dataDir }: TestServer): void {
  const db = new DatabaseSync(join(dataDir, "state.db"));
  db.exec("DELETE FROM tree_facts WHERE name IN ('root_segment', 'root_since')");
  db.close();
}

test("[AX-3.1-1] after an upgrade everything written without the root's segment still matches, and nothing opens more", async () => {
  const gates: NonNullable<Config["gates"]> = {
    rules: [
      { tools: "s.echo", action: "ask" },
      { tools: "**", action: "allow" },
    ],
  };
  const mcpServers = { s: stdioBackend() };
  const profiles = { p: { tools: ["s.*"] } };
  const server = await startTestServer({ config: { mcpServers, profiles, gates } });
  started.push(server);
  const old = await enter(server, ["s.*"]);
  const strange = await enter(server, ["infra.**"]);
  const before = await namesAt(old);
  expect(before).toContain("s.echo");
  const waiting = (await callTool(old, "s.echo", { text: "hi" })).message.result.structuredContent;
  expect(waiting).toMatchObject({ status: "confirmation_required", tool: "s.echo" });
  // Tokens say in whole seconds when they were issued.
  const second = Math.floor(Date.now() / 1_000);
  await expect.poll(() => Math.floor(Date.now() / 1_000), { timeout: 3_000 }).toBeGreaterThan(second);
  forgetRoot(server);
  await server.restart({ config: { mcpServers, profiles, gates, segment: "infra" } });

  expect(await namesAt(old)).toEqual(before.map((name) => `infra.${name}`));
  expect(await namesAt({ ...old, url: `${server.url}/mcp/p?names=canonical` })).toEqual(await namesAt(old));
  // The rule matches, the call that waits is found, and it has the whole name now.
  const joined = ["s.echo", "infra.s.echo"].map((name) => callTool(old, name, { text: "hi" }));
  for (const { message } of await Promise.all(joined)) {
    const { confirmation_id } = waiting;
    expect(message.result.structuredContent).toMatchObject({ confirmation_id, tool: "infra.s.echo" });
  }
  const { body } = await server.call("GET", "/admin/gates", await server.adminToken());
  expect(body.gates.map(({ tool }: Message) => tool)).toEqual(["infra.s.echo"]);
  // A token for a server called infra, from before, does not open this tree.
  expect(await namesAt(strange)).toEqual([]);
  expect(await namesAt(await enter(server, ["infra.**"]))).toEqual(await namesAt(old));
  expect(await namesAt(await enter(server, ["infra.s.echo"]))).toEqual(["infra.s.echo"]);
});
