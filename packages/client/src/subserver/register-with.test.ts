import { parseExact } from "@mcpx/protocol";
import type { McpServer as ServerV1 } from "@modelcontextprotocol/sdk/server/mcp.js";
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { kitchenV1, kitchenV2 } from "../../testing/kitchens.ts";
import { hello, openAggregator, openSubserver, subserverId } from "../../testing/open.ts";
import { refusal } from "../../testing/scripted-aggregator.ts";
import { registerWith, type SubserverSocket } from "./index.ts";

describe.each(["websocket", "http"] as const)("over %s", (transport) => {
  test("[AX-6.1-1] [AX-6.1-3] the first message has every field, and who sends it shows its token", async () => {
    const aggregator = await openAggregator();
    const subserver = openSubserver(aggregator.url, {
      transport,
      authority: "dns:edge01.example.com",
      authorityProof: async () => "a.b.c",
      heartbeatMs: 700,
      capabilities: { prompts: false },
      subtreeIds: () => [subserverId],
    });
    expect(subserver.state).toBe("connecting");
    expect(await subserver.registered).toMatchObject({ status: "registered", aggregator_id: aggregator.id });
    expect(subserver.state).toBe("registered");
    expect(subserver.parentId).toBe(aggregator.id);
    const [visit] = aggregator.visits;
    expect(visit?.headers.authorization).toBe("Bearer t0ken");
    expect(visit?.headers.upgrade).toBe(transport === "websocket" ? "websocket" : undefined);
    expect(visit?.heard[0]).toMatchObject({
      jsonrpc: "2.0",
      method: "mcpax/register",
      params: {
        subserver_id: subserverId,
        segment: "kitchen",
        authority: "dns:edge01.example.com",
        authority_proof: "a.b.c",
        capabilities: { tools: true, resources: true, prompts: false, notifications: true },
        heartbeat_interval_ms: 700,
        transport_class: transport,
        version: "2026-05-01",
        "x-mcpax-subtree-ids": [subserverId],
      },
    });
  });

  test("[AX-13.4-2] it says whose subserver it is, before it is registered and after", async () => {
    const aggregator = await openAggregator();
    const subserver = openSubserver(aggregator.url, { transport });
    await subserver.registered;
    const [visit] = aggregator.visits;
    expect(visit?.parent).toEqual({ parent_id: null });
    expect((await visit?.ask("mcpax/parent"))?.result).toEqual({ parent_id: aggregator.id });
    expect((await visit?.ask("mcpax/other"))?.error).toMatchObject({ code: -32601 });
  });

  test.each([
    ["1", kitchenV1],
    ["2", kitchenV2],
  ])("[AX-6.1-1] a server of SDK v%s is served on the same connection", async (_version, create) => {
    const aggregator = await openAggregator();
    const kitchen = create();
    const subserver = openSubserver(aggregator.url, { transport, server: kitchen.server });
    await subserver.registered;
    const [visit] = aggregator.visits;
    // An answer, whatever it is: a server that said nothing would be waited for.
    expect(await visit?.ask("server/discover")).toMatchObject({ error: { code: -32601 } });
    expect((await visit?.ask("initialize", hello))?.result).toMatchObject({
      serverInfo: { name: "kitchen" },
    });
    visit?.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    expect((await visit?.ask("tools/list"))?.result).toMatchObject({ tools: [{ name: "bake" }] });
    const call = await visit?.ask("tools/call", { name: "bake", arguments: {} });
    expect(call?.result).toMatchObject({ content: [{ text: "baked" }] });
    kitchen.server.sendToolListChanged();
    await expect.poll(() => visit?.heard.at(-1)?.method).toBe("notifications/tools/list_changed");
  });

  test("a server's own questions are answered by the aggregator, whatever ids both have", async () => {
    const aggregator = await openAggregator();
    const { server } = kitchenV1();
    aggregator.script.ping = () => ({ result: {} });
    await openSubserver(aggregator.url, { transport, server }).registered;
    expect(await (server as ServerV1).server.ping()).toEqual({});
    const asked = aggregator.visits[0]?.heard.filter(
      ({ id, method }) => method !== undefined && id !== undefined,
    );
    expect(asked?.map(({ method }) => method)).toEqual(["mcpax/register", "ping"]);
    expect(asked?.map(({ id }) => typeof id)).toEqual(["string", "number"]);
  });

  test("[AX-6.3-4] closing it deregisters first, and ends it for good", async () => {
    const aggregator = await openAggregator();
    const states: string[] = [];
    const subserver = openSubserver(aggregator.url, { transport, onState: (state) => states.push(state) });
    await subserver.registered;
    await subserver.close();
    const [visit] = aggregator.visits;
    expect(visit?.heard.at(-1)).toMatchObject({
      method: "mcpax/deregister",
      params: { session_id: "session-0" },
    });
    expect(await subserver.ended).toBeUndefined();
    expect(subserver.parentId).toBeNull();
    expect(states).toEqual(["registered", "over"]);
    await expect.poll(() => visit?.isOpen).toBe(false);
    expect(aggregator.visits).toHaveLength(1);
  });

  test("[AX-5.3-2] [AX-5.3-3] a changed subtree is told; a circle is refused, and the registration stays", async () => {
    const aggregator = await openAggregator();
    const ids = [subserverId];
    const subserver = openSubserver(aggregator.url, { transport, subtreeIds: () => ids });
    await subserver.registered;
    ids.push(aggregator.id);
    await subserver.update();
    expect(aggregator.visits[0]?.heard.at(-1)).toMatchObject({
      method: "mcpax/update",
      params: { session_id: "session-0", "x-mcpax-subtree-ids": ids },
    });
    aggregator.script["mcpax/update"] = () => refusal("registration_cycle");
    await expect(subserver.update()).rejects.toMatchObject({ reason: "registration_cycle" });
    expect(subserver.state).toBe("registered");
  });
});

test("what changes below while it is being registered is told right after", async () => {
  const aggregator = await openAggregator();
  const ids = [subserverId];
  aggregator.script["mcpax/register"] = (_params, _visit, usual) => {
    ids.push("00000000-0000-4000-8000-00000000000a");
    return usual();
  };
  await openSubserver(aggregator.url, { subtreeIds: () => ids }).registered;
  expect(aggregator.visits[0]?.heard.at(-1)?.params).toMatchObject({ "x-mcpax-subtree-ids": ids });
});

test("a server of the modern era is served by the SDK's own entry", async () => {
  const aggregator = await openAggregator();
  const create = () => {
    const server = new McpServer({ name: "kitchen", version: "1" });
    server.registerTool("bake", {}, async () => ({ content: [] }));
    return server;
  };
  const server = () => {
    let handle: ReturnType<typeof serveStdio> | undefined;
    return {
      connect: async (transport: never) => {
        handle = serveStdio(create, { transport });
      },
      close: async () => {
        await handle?.close();
      },
    };
  };
  await openSubserver(aggregator.url, { server }).registered;
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "aggregator", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const [visit] = aggregator.visits;
  expect((await visit?.ask("server/discover", { _meta }))?.result).toMatchObject({
    supportedVersions: ["2026-07-28"],
  });
  expect((await visit?.ask("tools/list", { _meta }))?.result).toMatchObject({ tools: [{ name: "bake" }] });
});

test("a socket of one's own gets the address and the headers; no token, no header", async () => {
  const aggregator = await openAggregator();
  const opened: unknown[] = [];
  const openSocket = (url: string, headers: Record<string, string>): SubserverSocket => {
    opened.push(url, headers);
    return new WebSocket(url, { headers });
  };
  await openSubserver(aggregator.url, { openSocket, token: undefined }).registered;
  expect(opened).toEqual([`${aggregator.url.replace("http", "ws")}/ax`, {}]);
  expect(aggregator.visits[0]?.headers).not.toHaveProperty("authorization");
});

test("numbers that JavaScript would round are handed on as they are, where one asks for it", async () => {
  const aggregator = await openAggregator();
  const heard: unknown[] = [];
  const server = {
    connect: async (transport: ServedTransport) => {
      transport.onmessage = (message) => heard.push(JSON.stringify(message));
      await transport.start();
    },
    close: async () => {},
  };
  await openSubserver(aggregator.url, { server, parse: parseExact }).registered;
  aggregator.visits[0]?.sendText('{"jsonrpc":"2.0","method":"a","params":{"n":9007199254740993}}');
  await expect.poll(() => heard).toEqual(['{"jsonrpc":"2.0","method":"a","params":{"n":9007199254740993}}']);
});

test("[AX-6.1-2] what an aggregator would refuse is refused at once, with the option's field", () => {
  const server = kitchenV1().server;
  const options = { segment: "kitchen", server, token: "t" };
  const bad =
    (more: object, url = "http://127.0.0.1:1") =>
    () =>
      registerWith(url, { ...options, ...more });
  expect(bad({ segment: "Küche" })).toThrow(/params\.segment/);
  expect(bad({ authority: "example.com" })).toThrow(/params\.authority/);
  expect(bad({ subserverId: "me" })).toThrow(/params\.subserver_id/);
  expect(bad({ heartbeatMs: -1 })).toThrow(/heartbeat_interval_ms/);
  expect(bad({ transportClass: "pigeon" })).toThrow(/transport_class/);
  expect(bad({ subtreeIds: () => [] })).toThrow(/x-mcpax-subtree-ids/);
  expect(bad({}, "ftp://host")).toThrow(/invalid address/);
  expect(bad({ backups: ["nowhere"] })).toThrow(/invalid address/);
  expect(bad({}, "wss://user:secret@host/ax")).toThrow(/token/);
});

interface ServedTransport {
  onmessage?: (message: unknown) => void;
  start(): Promise<void>;
}
