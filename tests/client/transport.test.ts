// The official SDK over a room, unmodified: clients and servers of both versions, in all four combinations.
import { Client as ClientV2 } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { expect, onTestFinished, test } from "vitest";
import { enter } from "../support/enter.ts";
import { join, nextEvent, rejection, seen, startHouse, textOf, topic } from "./support/house.ts";
import { kitchenV1, kitchenV2 } from "./support/sdk-servers.ts";

const info = { name: "guest", version: "0.0.1" };

interface AnyClient {
  // biome-ignore lint/suspicious/noExplicitAny: each SDK has types of its own
  connect(transport: any): Promise<void>;
  listTools(): Promise<{ tools: { name: string }[] }>;
  close(): Promise<void>;
  call(
    name: string,
    args: object,
    options?: { signal?: AbortSignal; onprogress?: (progress: { progress: number }) => void },
  ): Promise<{ content?: unknown }>;
}

function clientV1(): AnyClient {
  const client = new ClientV1(info);
  return {
    connect: (transport) => client.connect(transport),
    listTools: () => client.listTools(),
    close: () => client.close(),
    call: async (name, args, options) => ({
      content: (await client.callTool({ name, arguments: { ...args } }, undefined, options)).content,
    }),
  };
}

function clientV2(): AnyClient {
  const client = new ClientV2(info);
  return {
    connect: (transport) => client.connect(transport),
    listTools: () => client.listTools(),
    close: () => client.close(),
    call: (name, args, options) => client.callTool({ name, arguments: { ...args } }, options),
  };
}

const clients = { v1: clientV1, v2: clientV2 };
const kitchens = { v1: kitchenV1, v2: kitchenV2 };
const versions = ["v1", "v2"] as const;

for (const of of versions) {
  for (const by of versions) {
    for (const how of ["served to everybody", "served over a transport"] as const) {
      test(`[X0-12-1] [X0-4.1-7] a ${by} Client and a ${of} Server, ${how}, work over a room unmodified`, async () => {
        const house = await startHouse();
        const oven = await join(house, "oven");
        const { server, done, waiting } = kitchens[of]();
        if (how === "served to everybody") await oven.serve(server);
        else await server.connect(oven.transport("alice"));
        const alice = await join(house, "alice");
        const client = clients[by]();
        await client.connect(alice.transport("oven"));
        const { tools } = await client.listTools();
        expect(tools.map(({ name }) => name)).toEqual(["echo", "count", "wait"]);
        expect(textOf(await client.call("echo", { text: "hi" }))).toBe("hi");
        const heard: number[] = [];
        const onprogress = ({ progress }: { progress: number }) => void heard.push(progress);
        expect(textOf(await client.call("count", { to: 3 }, { onprogress }))).toBe("3");
        expect(heard.length).toBeGreaterThan(0);
        const abort = new AbortController();
        const call = rejection(client.call("wait", {}, { signal: abort.signal }));
        await waiting;
        abort.abort("enough");
        await call;
        await expect.poll(() => done.at(-1)).toBe("wait cancelled");
        await client.close();
      });
    }
  }
}

test.for([
  ["2025-06-18", "2025-06-18"],
  ["2025-11-25", "2025-11-25"],
  // None that a room speaks: the newest the server has.
  ["1999-01-01", "2025-11-25"],
  ["2026-07-28", "2025-11-25"],
])("[X0-4.1-7] who asks a served server for revision %s is offered %s", async ([asked, offered]) => {
  const house = await startHouse();
  const oven = await join(house, "oven");
  await oven.serve(kitchenV2().server);
  const alice = await join(house, "alice");
  const client = new ClientV1(info);
  const transport = alice.transport("oven");
  const { send } = transport;
  // An SDK asks for its own newest; this one has another.
  transport.send = (message, options) => {
    if (message.method === "initialize") message.params.protocolVersion = asked;
    return send.call(transport, message, options);
  };
  const heard: unknown[] = [];
  const watched = new Promise<void>((resolve) => {
    alice.addEventListener("envelope", ({ detail }) => {
      const result = detail.payload.result as { protocolVersion?: unknown } | undefined;
      if (detail.from === "oven" && result !== undefined) resolve(void heard.push(result.protocolVersion));
    });
  });
  await client.connect(transport);
  await watched;
  expect(heard).toEqual([offered]);
});

test("two SDK clients and a peer of the library share one participant without crossing", async () => {
  const house = await startHouse();
  const oven = await join(house, "oven");
  await oven.serve(kitchenV2().server);
  const alice = await join(house, "alice");
  const [one, two] = [clientV1(), clientV2()];
  await one.connect(alice.transport("oven"));
  await two.connect(alice.transport("oven"));
  const texts = Array.from({ length: 30 }, (_, i) => `t${i}`);
  const ways = [one.call, two.call, alice.peer("oven").callTool.bind(alice.peer("oven"))];
  const results = await Promise.all(texts.map((text, i) => ways[i % 3]?.("echo", { text })));
  expect(results.map((result) => textOf(result ?? {}))).toEqual(texts);
});

test("an SDK client is closed when its peer has left for good, and its calls fail", async () => {
  const house = await startHouse();
  const oven = await join(house, "oven");
  const { server, waiting } = kitchenV1();
  await oven.serve(server);
  const alice = await join(house, "alice", { peerGraceMs: 20 });
  const client = new ClientV1(info);
  const closed = Promise.withResolvers<void>();
  client.onclose = closed.resolve;
  await client.connect(alice.transport("oven"));
  const call = rejection(client.callTool({ name: "wait" }));
  await waiting;
  await oven.close();
  expect((await call).message).toMatch(/left|closed/);
  await closed.promise;
});

test("an SDK client goes on with a server that was started anew behind the same name", async () => {
  const house = await startHouse();
  const first = await join(house, "oven");
  await first.serve(kitchenV1().server);
  const alice = await join(house, "alice");
  const client = clientV2();
  await client.connect(alice.transport("oven"));
  const back = nextEvent(alice, "presence", ({ event }) => event === "join");
  await first.close();
  const second = await join(house, "oven");
  await second.serve(kitchenV1().server);
  await back;
  expect(textOf(await client.call("echo", { text: "again" }))).toBe("again");
});

for (const isCancelled of [true, false]) {
  const what = isCancelled ? "cancelled meanwhile is not asked again" : "that still stands is asked again";
  test(`while a client introduces itself anew, a request ${what}`, async () => {
    const house = await startHouse();
    const oven = await enter(house, "oven", { topic });
    const alice = await join(house, "alice");
    await seen(alice, "oven");
    const transport = alice.transport("oven");
    await transport.start();
    const ask = (method: string, more: object) => transport.send({ jsonrpc: "2.0", method, ...more });
    const asked = (method: string) => oven.find(({ payload }) => payload.method === method);
    // biome-ignore lint/suspicious/noExplicitAny: envelopes of any shape
    const answer = ({ id, payload }: any, body: object) =>
      oven.send({
        kind: "mcp",
        to: ["alice"],
        correlation_id: id,
        payload: { jsonrpc: "2.0", id: payload.id, ...body },
      });
    const hello = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: info };
    await ask("initialize", { id: 1, params: { ...hello, clientInfo: info } });
    answer(await asked("initialize"), { result: hello });
    await ask("tools/call", { id: 2, params: { name: "heat" } });
    const unknown = { code: 42801, message: "Send initialize first", data: { reason: "not_initialized" } };
    answer(await asked("tools/call"), { error: unknown });
    const again = await asked("initialize");
    if (isCancelled) await ask("notifications/cancelled", { params: { requestId: 2 } });
    answer(again, { result: hello });
    // What comes after the introduction comes after whatever it set free.
    await asked("notifications/initialized");
    await ask("ping", { id: 3 });
    const next = await oven.find(({ payload }) => ["tools/call", "ping"].includes(payload.method));
    expect(next.payload.method).toBe(isCancelled ? "ping" : "tools/call");
    await oven.leave();
  });
}

test("a server that asks back reaches the client that called it", async () => {
  const house = await startHouse();
  const oven = await join(house, "oven");
  const { McpServer } = await import("@modelcontextprotocol/sdk/server/mcp.js");
  await oven.serve(() => {
    const server = new McpServer(info);
    server.registerTool("ask", {}, async () => {
      const { roots } = await server.server.listRoots();
      return { content: [{ type: "text", text: String(roots[0]?.uri) }] };
    });
    return server;
  });
  const alice = await join(house, "alice");
  const { ListRootsRequestSchema } = await import("@modelcontextprotocol/sdk/types.js");
  const client = new ClientV1(info, { capabilities: { roots: {} } });
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: "file:///pantry" }] }));
  await client.connect(alice.transport("oven"));
  onTestFinished(() => client.close());
  const { content } = await client.callTool({ name: "ask" });
  expect(textOf({ content })).toBe("file:///pantry");
});

test("a restricted SDK client gets the gateway's own -32001", async () => {
  const house = await startHouse();
  const oven = await join(house, "oven");
  await oven.serve(kitchenV1().server);
  const rookie = await join(house, "rookie", { level: "restricted" });
  expect(await rejection(clientV1().connect(rookie.transport("oven")))).toMatchObject({ code: -32001 });
});
