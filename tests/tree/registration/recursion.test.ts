// Trees in trees, over real sockets: names, routes, annotations, circles, loss of whole subtrees, canaries.
import { randomUUID } from "node:crypto";
import { harmless } from "@mcpx/protocol";
import { afterEach, expect, test } from "vitest";
import { startHostileParent } from "../../gates/attacks/support/hostile-parent.ts";
import { startTestIssuer } from "../../support/test-issuer.ts";
import { startTestServer, type TestServer } from "../../support/test-server.ts";
import { ask, callTool, type Place, textOf } from "../support/ask.ts";
import { stdioBackend } from "../support/backends.ts";
import { startBelow, startChain, stopAll } from "./support/family.ts";
import {
  dangerous,
  type Message,
  type RawOptions,
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

async function enter({ url, token }: TestServer, tools = ["**"]): Promise<Place> {
  return { url: `${url}/mcp`, token: await token({ sub: "alice", topics: [], tools }) };
}

async function namesAt(server: TestServer): Promise<string[]> {
  const { message } = await ask(await enter(server), "tools/list");
  return message.result.tools
    .map(({ name }: Message) => name)
    .filter((name: string) => !name.includes("mcpax."));
}

async function toolAt(server: TestServer, name: string): Promise<Message> {
  const { message } = await ask(await enter(server), "tools/list");
  return message.result.tools.find((one: Message) => one.name === name);
}

async function leafOf(server: TestServer, segment: string, options: RawOptions): Promise<RawRegistrant> {
  const token = await server.token({ sub: "leaf", topics: [], segment, scope: "write" } as never);
  const registrant = await rawRegistrant(server.url, token, { parentId: null, ...options });
  registrants.push(registrant);
  const { error } = await registrant.register(registrationOf(segment));
  if (error !== undefined) throw new Error(JSON.stringify(error));
  return registrant;
}

test.each([2, 8])(
  "[AX-1.1-2] [AX-5.3-1] [AX-7.2-1] a call goes down %i real levels and its result comes back",
  async (levels) => {
    const chain = await startChain(levels);
    started.push(...chain);
    const leaf = await leafOf(chain.at(-1) as TestServer, "stub", { tools: [toolOf("t")] });
    const name = [...Array.from({ length: levels - 1 }, (_, i) => `n${i + 2}`), "stub", "t"].join(".");
    const [root] = chain as [TestServer];
    await expect.poll(() => namesAt(root)).toEqual([name]);
    const heard = await callTool(
      await enter(root),
      name,
      { deep: levels, exact: 1 },
      { meta: { kept: "yes" } },
    );
    expect(JSON.parse(textOf(heard)).arguments).toEqual({ deep: levels, exact: 1 });
    const { params } = leaf.asked.findLast(({ method }) => method === "tools/call");
    expect(JSON.stringify(params)).not.toContain("x-mcpax-");
    expect(params._meta.kept).toBe("yes");
    expect((await toolAt(root, name))._meta).toMatchObject({
      "x-mcpax-hops": levels,
      "x-mcpax-capability": harmless,
    });
  },
);

test("[AX-5.3-1] a tree shows the trees above it, and whether they have it", async () => {
  const chain = await startChain(2);
  started.push(...chain);
  const [root, below] = chain as [TestServer, TestServer];
  const parents = async (server: TestServer) =>
    (await callTool(await enter(server), "mcpax.status")).message.result.structuredContent.parents;
  await expect.poll(() => parents(below)).toEqual([{ url: root.url, segment: "n2", state: "registered" }]);
  expect(await parents(root)).toEqual([]);
  await root.stop();
  started.shift();
  await expect.poll(async () => (await parents(below))[0].state).not.toBe("registered");
});

test("[AX-7.2-3] numbers JavaScript cannot hold go down two levels and come back as they were", async () => {
  const chain = await startChain(3, {
    mcpServers: { odd: { ...stdioBackend({ era: "modern" }), trusted: true } },
  });
  started.push(...chain);
  const [root] = chain as [TestServer];
  await expect.poll(() => namesAt(root)).toContain("n2.n3.odd.echo");
  const place = await enter(root);
  const exact = '{"big":9007199254740993,"one":1.0,"far":1e400}';
  const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"n2.n3.odd.echo","arguments":${exact},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`;
  const heard = await ask(place, "tools/call", { name: "n2.n3.odd.echo" }, { body });
  expect(heard.texts.join()).toContain("9007199254740993");
  expect(heard.texts.join()).toContain("1e400");
});

test("[AX-9.2-1] [AX-9.2-2] [AX-11.2-1] what is dangerous below is dangerous above, word for word", async () => {
  const chain = await startChain(3);
  started.push(...chain);
  await leafOf(chain[2] as TestServer, "plc", { tools: [toolOf("stop", dangerous)] });
  const [root] = chain as [TestServer];
  await expect.poll(() => namesAt(root)).toEqual(["n2.n3.plc.stop"]);
  expect((await toolAt(root, "n2.n3.plc.stop"))._meta).toEqual({
    "x-mcpax-capability": dangerous,
    "x-mcpax-believed": dangerous,
    "x-mcpax-hops": 3,
    "x-mcpax-safety": "irreversible_mutable",
  });
});

test("[AX-5.3-2] a circle of two is refused, whoever closes it", async () => {
  const top = await startTestServer();
  started.push(top);
  const below = await startBelow(top, "below");
  started.push(below);
  await expect
    .poll(async () => (await ask(await enter(top), "tools/list")).message.result.tools.length)
    .toBeGreaterThan(4);
  // The top wants to stand below what stands below it.
  const token = await below.token({ sub: "tree:top", topics: [], segment: "top", scope: "write" } as never);
  await top.restart({ config: { parents: [{ url: below.url, segment: "top", token, heartbeat: 1_000 }] } });
  // Whichever of the two came second.
  await expect.poll(() => top.logged.join("") + below.logged.join("")).toContain("would close a circle");
});

test("[AX-5.3-2] a circle of three that would close later is refused by whoever would close it", async () => {
  const top = await startTestServer();
  started.push(top);
  const middle = await startBelow(top, "middle");
  started.push(middle);
  await expect.poll(() => top.logged.join("")).toContain("subserver registered");
  const { result } = await probe(top);
  // Somebody who stands above the top registers below the middle.
  const token = await middle.token({ sub: "x", topics: [], segment: "deep", scope: "write" } as never);
  const registrant = await rawRegistrant(middle.url, token, { parentId: null });
  registrants.push(registrant);
  const ids = { "x-mcpax-subtree-ids": [randomUUID(), result.aggregator_id] };
  const refused = await registrant.register(registrationOf("deep", ids));
  expect(refused.error.data.reason).toBe("registration_cycle");
  expect(await namesAt(middle)).toEqual([]);
});

async function probe(server: TestServer): Promise<Message> {
  const token = await server.token({ sub: "probe", topics: [], segment: "probe" });
  const registrant = await rawRegistrant(server.url, token, { parentId: null });
  registrants.push(registrant);
  return registrant.register(registrationOf("probe"));
}

test("[AX-13.3-1] [AX-6.3-5] an aggregator that leaves takes its whole subtree with it, at every ancestor", async () => {
  const chain = await startChain(3);
  started.push(...chain);
  const [root, , last] = chain as [TestServer, TestServer, TestServer];
  await leafOf(last, "a", { tools: [toolOf("t")] });
  await leafOf(last, "b", { tools: [toolOf("t")] });
  await expect.poll(() => namesAt(root)).toEqual(["n2.n3.a.t", "n2.n3.b.t"]);
  await last.stop();
  started.pop();
  await expect.poll(() => namesAt(root)).toEqual([]);
  expect((await callTool(await enter(root), "n2.n3.a.t")).message.error.code).toBe(-32601);
});

test("[AX-10.1-1] [AX-10.1-2] no hop sees the credentials of another", async () => {
  const chain = await startChain(3);
  started.push(...chain);
  const [root] = chain as [TestServer];
  const leaf = await leafOf(chain[2] as TestServer, "leaf", { tools: [toolOf("t")] });
  await expect.poll(() => namesAt(root)).toEqual(["n2.n3.leaf.t"]);
  const place = await enter(root);
  await callTool(
    place,
    "n2.n3.leaf.t",
    {},
    { headers: { "x-canary": "canary-header", cookie: "canary-cookie" } },
  );
  const below = [JSON.stringify(leaf.asked), ...chain.slice(1).map(({ logged }) => logged.join("\n"))].join(
    "\n",
  );
  for (const secret of [place.token, "canary-header", "canary-cookie"]) expect(below).not.toContain(secret);
});

test("[AX-7.2-2] a route of a client counts nothing, at any depth", async () => {
  const chain = await startChain(2);
  started.push(...chain);
  const [root] = chain as [TestServer];
  await leafOf(chain[1] as TestServer, "s", { tools: [toolOf("t")] });
  await expect.poll(() => namesAt(root)).toEqual(["n2.s.t"]);
  const meta = { "x-mcpax-route": ["other", "way"], "x-mcpax-cursor": 7 };
  expect((await callTool(await enter(root), "n2.s.t", {}, { meta })).message.result.isError).not.toBe(true);
});

test("[AX-13.3-3] a subserver goes to its backup once its lease is over, and not before", async () => {
  const issuer = await startTestIssuer();
  const { issuer: name, jwksUri } = issuer;
  const issuers = [
    { issuer: name, jwksUri, audience: "trees", segments: ["moving"], scope: "write" as const },
  ];
  const first = await startTestServer({ issuers });
  const backup = await startTestServer({ issuers });
  started.push(backup);
  const claims = { sub: "tree:moving", topics: [], segment: "moving", scope: "write" };
  const token = issuer.token({ ...claims, aud: "trees" });
  const parents = [{ url: first.url, segment: "moving", token, heartbeat: 300, backups: [backup.url] }];
  const below = await startTestServer({ config: { parents } });
  started.push(below);
  await leafOf(below, "s", { tools: [toolOf("t")] });
  await expect.poll(() => namesAt(first)).toEqual(["moving.s.t"]);
  expect(await namesAt(backup)).toEqual([]);
  await first.stop();
  await expect.poll(() => namesAt(backup)).toEqual(["moving.s.t"]);
  expect(textOf(await callTool(await enter(backup), "moving.s.t", { at: "backup" }))).toContain("backup");
  await issuer.down();
});

test("[AX-7.2-1] the root's route stands at every hop", async () => {
  const chain = await startChain(2);
  started.push(...chain);
  const [root] = chain as [TestServer, TestServer];
  // A tree that is none of ours, below the root.
  const seen: Message[] = [];
  const token = await root.token({ sub: "x", topics: [], segment: "probe", scope: "write" } as never);
  const below = await rawRegistrant(root.url, token, {
    parentId: null,
    tools: [toolOf("t")],
    call: (params) => {
      seen.push(params._meta);
      return { content: [] };
    },
    capabilities: { tools: {}, extensions: { "org.mcpax/aggregator": {} } },
  });
  registrants.push(below);
  await below.register(registrationOf("probe", { "x-mcpax-subtree-ids": [randomUUID()] }));
  await expect.poll(() => namesAt(root)).toEqual(["probe.t"]);
  await callTool(await enter(root), "probe.t");
  expect(seen).toMatchObject([{ "x-mcpax-route": ["probe", "t"], "x-mcpax-cursor": 0 }]);
});

test("[AX-7.2-2] a wrong route from the parent is refused, and the right one is not", async () => {
  const parent = await startHostileParent();
  const parents = [{ url: parent.url, segment: "mid", token: "t", heartbeat: 0 }];
  started.push(await startTestServer({ config: { parents, mcpServers: { leaf: stdioBackend() } } }));
  const call = (segments: unknown, cursor: unknown) =>
    parent.ask(
      "tools/call",
      { name: "leaf.echo", arguments: { text: "hi" } },
      { "x-mcpax-route": segments, "x-mcpax-cursor": cursor },
    );
  const right = ["world", "mid", "leaf", "echo"];
  expect(await call(right, 1)).toHaveProperty("result");
  for (const [what, segments, cursor] of [
    ["its cursor is at another hop", right, 0],
    ["its cursor is past this hop", right, 2],
    ["its cursor is outside", right, 4],
    ["its cursor is no number", right, "1"],
    ["its cursor is before the route", right, -3],
    ["another segment stands here", ["world", "other", "leaf", "echo"], 1],
    ["it leads to another tool", ["world", "mid", "leaf", "wait"], 1],
    ["it has a segment too many", ["world", "mid", "leaf", "x", "echo"], 1],
    ["it is too long", Array.from({ length: 129 }, () => "mid"), 1],
    ["it is no list", "world.mid.leaf.echo", 1],
  ] as const)
    expect((await call(segments, cursor)).error?.data?.reason, what).toBe("bad_route");
  await parent.close();
});
