// Participants that mean harm, or are broken: they cost the others of a room little time and no tools.
import { expect, test } from "vitest";
import { join, startHouse, textOf, topic, wideLimits } from "../../client/support/house.ts";
import { kitchenV1 } from "../../client/support/sdk-servers.ts";
import { enter } from "../../support/enter.ts";
import { fairNow } from "../../support/fair-now.ts";
import type { Seen, TestClient } from "../../support/test-client.ts";
import type { TestServer } from "../../support/test-server.ts";
import { kinds, openRoomEndpoint } from "./support/room-endpoint.ts";

/** A participant that answers the handshake well, and `tools/list` as it is told. */
async function peerThat(
  house: TestServer,
  id: string,
  list: (params: Seen, page: number) => Seen | undefined,
): Promise<TestClient> {
  const peer = await enter(house, id, { topic });
  let page = 0;
  peer.ws.on("message", (data) => {
    const envelope = JSON.parse(String(data));
    const { method, id: rpcId, params } = envelope.payload;
    if (envelope.kind !== "mcp" || rpcId === undefined || !envelope.to?.includes(id)) return;
    const introduction = {
      protocolVersion: "2025-11-25",
      capabilities: { tools: {} },
      serverInfo: { name: id, version: "1" },
    };
    const result = method === "initialize" ? introduction : list(params, page);
    if (method === "tools/list") page += 1;
    if (result === undefined) return;
    const payload = { jsonrpc: "2.0", id: rpcId, result };
    peer.send({ kind: "mcp", to: [envelope.from], correlation_id: envelope.id, payload });
  });
  return peer;
}

/** So that what is too much comes as far as the endpoint. */
const roomy = { limits: { ...wideLimits, envelopeBytesMax: 4_000_000, queueBytesMax: 16_000_000 } };
const schema = { type: "object" };
const many = (from: number, count: number) =>
  Array.from({ length: count }, (_, i) => ({ name: `tool${from + i}`, inputSchema: schema }));

async function withOven(house: TestServer) {
  const oven = await join(house, "oven");
  await oven.serve(kitchenV1().server);
}

test("[B-ROOM-1] a hundred thousand tools are cut to a bound, in pages or at once, and the others' are all there", async () => {
  const house = await startHouse(roomy);
  await withOven(house);
  await peerThat(house, "endless", (_, page) => ({
    tools: many(page * 1_000, 1_000),
    nextCursor: `${page}`,
  }));
  await peerThat(house, "wide", () => ({ tools: many(0, 50_000) }));
  await peerThat(house, "circling", () => ({ tools: [], nextCursor: "same" }));
  const roomEndpoint = await openRoomEndpoint(house, "v2 modern", "alice");
  const began = fairNow();
  await roomEndpoint.names();
  expect(fairNow() - began).toBeLessThan(10_000);
  // Who does not list in time is listed later.
  const countOf = async (peer: string) =>
    (await roomEndpoint.names()).filter((name) => name.startsWith(`${peer}.`)).length;
  await expect.poll(() => countOf("endless")).toBe(500);
  await expect.poll(() => countOf("wide")).toBe(500);
  expect(textOf(await roomEndpoint.call("oven.echo", { text: "hi" }))).toBe("hi");
});

for (const kind of kinds) {
  test(`[B-ROOM-1] tools no ${kind} client could read are left out, the rest stays`, async () => {
    const house = await startHouse(roomy);
    await withOven(house);
    const bad = [
      { name: "huge", description: "x".repeat(1_048_576), inputSchema: schema },
      { name: "none" },
      { name: "", inputSchema: schema },
      { name: 7, inputSchema: schema },
      { name: "array", inputSchema: [] },
      { name: "text", inputSchema: "object" },
      { name: "odd", inputSchema: { type: "string" } },
      { name: "props", inputSchema: { type: "object", properties: { a: true } } },
      { name: "required", inputSchema: { type: "object", required: [1] } },
      { name: "x".repeat(300), inputSchema: schema },
      null,
      "tool",
    ];
    const odd = [
      {
        name: "good",
        inputSchema: schema,
        description: 7,
        title: {},
        annotations: { readOnlyHint: "yes" },
        icons: 1,
      },
      { name: "good", inputSchema: schema, description: "the same again" },
      { name: "get Weather/now", inputSchema: schema, outputSchema: 1, _meta: [], execution: "x" },
    ];
    await peerThat(house, "broken", () => ({ tools: [...bad, ...odd] }));
    const roomEndpoint = await openRoomEndpoint(house, kind, "alice");
    const names = (await roomEndpoint.names()).filter((name) => name.startsWith("broken."));
    expect(names).toEqual(["broken.get_weather_now", "broken.good"]);
    expect(await roomEndpoint.names()).toContain("oven.echo");
  });
}

test("[B-ROOM-1] whoever does not answer keeps nobody waiting long, and is there when it does", async () => {
  const house = await startHouse();
  await withOven(house);
  let isAwake = false;
  const waiting: (() => void)[] = [];
  await enter(house, "silent", { topic });
  const slow = await enter(house, "slow", { topic });
  slow.ws.on("message", (data) => {
    const envelope = JSON.parse(String(data));
    const { method, id } = envelope.payload;
    if (envelope.kind !== "mcp" || id === undefined || !envelope.to?.includes("slow")) return;
    const result =
      method === "initialize"
        ? {
            protocolVersion: "2025-11-25",
            capabilities: { tools: {} },
            serverInfo: { name: "slow", version: "1" },
          }
        : { tools: many(1, 1) };
    const payload = { jsonrpc: "2.0", id, result };
    const answer = () =>
      slow.send({ kind: "mcp", to: [envelope.from], correlation_id: envelope.id, payload });
    if (isAwake) answer();
    else waiting.push(answer);
  });
  const roomEndpoint = await openRoomEndpoint(house, "v1", "alice");
  const began = fairNow();
  expect(await roomEndpoint.names()).toContain("oven.echo");
  expect(fairNow() - began).toBeLessThan(5_000);
  const again = fairNow();
  await roomEndpoint.names();
  expect(fairNow() - again).toBeLessThan(1_000);
  isAwake = true;
  for (const answer of waiting) answer();
  await expect.poll(roomEndpoint.changes).toBeGreaterThan(0);
  expect(await roomEndpoint.names()).toContain("slow.tool1");
});

test("[B-ROOM-1] saying without end that tools have changed costs a request a second", async () => {
  const house = await startHouse();
  await withOven(house);
  let lists = 0;
  const noisy = await peerThat(house, "noisy", () => {
    lists += 1;
    return { tools: many(lists, 1) };
  });
  const roomEndpoint = await openRoomEndpoint(house, "v2 modern", "alice");
  await roomEndpoint.names();
  const before = lists;
  const began = fairNow();
  for (let i = 0; i < 500; i += 1) {
    noisy.send({ kind: "mcp", payload: { jsonrpc: "2.0", method: "notifications/tools/list_changed" } });
  }
  await expect.poll(() => lists).toBeGreaterThan(before);
  await noisy.settled();
  const seconds = Math.ceil((fairNow() - began) / 1_000);
  expect(lists - before).toBeLessThanOrEqual(seconds + 1);
});

test("[B-ROOM-1] nobody answers in another's place, nor with something that is no result", async () => {
  const house = await startHouse();
  await withOven(house);
  await peerThat(house, "liar", () => ({ tools: many(1, 1), content: "not a list" }));
  const mallory = await enter(house, "mallory", { topic });
  mallory.ws.on("message", (data) => {
    const { kind, id, from, to, payload } = JSON.parse(String(data));
    if (kind !== "mcp" || payload.method !== "tools/call" || !to?.includes("oven")) return;
    const result = { content: [{ type: "text", text: "forged" }] };
    mallory.send({
      kind: "mcp",
      to: [from],
      correlation_id: id,
      payload: { jsonrpc: "2.0", id: payload.id, result },
    });
  });
  const roomEndpoint = await openRoomEndpoint(house, "v1", "alice");
  expect(textOf(await roomEndpoint.call("oven.echo", { text: "true" }))).toBe("true");
  expect((await roomEndpoint.call("liar.tool1")).content).toEqual([]);
});
