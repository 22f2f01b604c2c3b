// Devices of the configuration: in the tree without a token or an address, as long as the server runs.
import { existsSync } from "node:fs";
import type { Config } from "@mcpx/cli";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { startTestServer, type TestServer } from "../support/test-server.ts";
import { demoDevice } from "./support/demo-device.ts";
import { buildHostStubs, type HostStubs } from "./support/host-stub.ts";

let stubs: HostStubs;

beforeAll(async () => {
  stubs = await buildHostStubs();
});

afterAll(() => stubs[Symbol.asyncDispose]());

type Entry = NonNullable<Config["devices"]>[string];

/** The demonstration as `mcpx.json` has it. */
function entry(profile: "a" | "b", line: string): Entry {
  const tools = demoDevice(profile).tools.map(({ name, ...tool }) => [name, tool]);
  return { line, profile, heartbeat: 200, tools: Object.fromEntries(tools) };
}

async function startWith(
  devices: Record<string, Entry>,
  more: Pick<Config, "subservers"> = {},
): Promise<{ server: TestServer; client: Client }> {
  const server = await startTestServer({ config: { devices, gates: { hold: 0 }, ...more } });
  const client = new Client({ name: "unmodified", version: "1.0.0" });
  const token = await server.token({ sub: "alice", topics: [], tools: ["**"] });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${server.url}/mcp?names=canonical`), { requestInit }),
  );
  onTestFinished(async () => {
    await client.close();
    await server.stop();
  });
  return { server, client };
}

async function factsOf(server: TestServer) {
  const { body } = await server.call("GET", "/admin/devices", await server.adminToken());
  return body.devices as { segment: string; state: string; why?: string; tools: string[] }[];
}

test("[AX-8.3-3] [AX-B-3] devices of both profiles are in the tree, and gated", async () => {
  const [a, b] = [await stubs.start("a"), await stubs.start("b")];
  const devices = { lamp: entry("a", `unix:${a.path}`), valve: entry("b", `unix:${b.path}`) };
  const { server, client } = await startWith(devices);
  const names = async () => (await client.listTools()).tools.map(({ name }) => name);
  await expect.poll(names).toEqual(expect.arrayContaining(["lamp.set_led", "valve.release"]));
  await client.callTool({ name: "lamp.set_led", arguments: { led: 1 } });
  const seen = await client.callTool({ name: "lamp.read_sensor", arguments: {} });
  expect(seen.structuredContent).toMatchObject({ led: true, releases: 0 });
  const gated = await client.callTool({ name: "valve.release", arguments: { amount: 1 } });
  expect(gated).toMatchObject({
    isError: true,
    _meta: { "x-mcpax-confirmation": { status: "confirmation_required" } },
  });
  expect(await factsOf(server)).toMatchObject([
    { segment: "lamp", state: "up", tools: ["read_sensor", "set_led", "release"] },
    { segment: "valve", state: "up", tools: ["read_sensor", "set_led", "release"] },
  ]);
});

test("one that is killed is degraded, its calls say so, and it comes back by itself", async () => {
  const stub = await stubs.start("b");
  const { server, client } = await startWith({ lamp: entry("b", `unix:${stub.path}`) });
  const state = async () => (await factsOf(server))[0]?.state;
  await expect.poll(state).toBe("up");
  const call = () => client.callTool({ name: "lamp.read_sensor", arguments: {} });
  await expect.poll(() => call().then(({ isError }) => isError === true, String)).toBe(false);
  await stub.kill();
  await expect.poll(state).toBe("degraded");
  await expect(call()).rejects.toThrow(/tool_degraded/);
  await stub.start();
  await expect.poll(state).toBe("up");
  await expect.poll(() => call().then(({ isError }) => isError === true, String)).toBe(false);
});

test("one whose line cannot be opened is down with the reason, and hurts nobody else", async () => {
  const stub = await stubs.start("b");
  const missing = `${stub.path}-not-there`;
  expect(existsSync(missing)).toBe(false);
  const devices = { gone: entry("b", `unix:${missing}`), lamp: entry("b", `unix:${stub.path}`) };
  const { server } = await startWith(devices);
  await expect
    .poll(() => factsOf(server))
    .toMatchObject([
      { segment: "gone", state: "down", why: expect.stringContaining("ENOENT"), tools: [] },
      { segment: "lamp", state: "up" },
    ]);
  expect(server.logged.some((line) => line.includes('"absent"') && line.includes(missing))).toBe(true);
});

test("after a restart the same device has its place again", async () => {
  const stub = await stubs.start("b");
  const devices = { lamp: entry("b", `unix:${stub.path}`) };
  const { server } = await startWith(devices);
  const state = async () => (await factsOf(server))[0]?.state;
  await expect.poll(state).toBe("up");
  await server.restart();
  // It ends with its line.
  await stub.start();
  await expect.poll(state).toBe("up");
  await expect
    .poll(() => server.logged.filter((line) => line.includes('"event":"registered"')).length)
    .toBe(2);
});

test("what the operator has said of a segment counts for devices too", async () => {
  const stub = await stubs.start("b");
  const subservers = { lamp: { authority: "edge01.example.com" } };
  const { server, client } = await startWith({ lamp: entry("b", `unix:${stub.path}`) }, { subservers });
  const why = async () => (await factsOf(server))[0]?.why;
  await expect.poll(why).toMatch(/the segment lamp is for dns:edge01.example.com/);
  expect((await factsOf(server))[0]?.state).toBe("down");
  const names = (await client.listTools()).tools.map(({ name }) => name);
  expect(names.filter((name) => name.startsWith("lamp."))).toEqual([]);
});

test("who is no operator is not told of devices", async () => {
  const { server } = await startWith({});
  const token = await server.token({ sub: "alice", topics: [], tools: ["**"] });
  expect((await server.call("GET", "/admin/devices", token)).status).toBe(403);
  expect((await server.call("GET", "/admin/devices")).status).toBe(401);
  expect(await factsOf(server)).toEqual([]);
});

test("a device cannot have the segment of a server, nor fields that do not fit", async () => {
  const mcpServers = { lamp: { command: "true" } };
  const config = { mcpServers, devices: { lamp: entry("b", "unix:/nowhere") } };
  await expect(startTestServer({ config })).rejects.toThrow(/devices.lamp: the segment belongs to lamp/);
  const wide = entry("a", "unix:/nowhere");
  const devices = { lamp: { ...wide, payloadMax: 1 } };
  await expect(startTestServer({ config: { devices } })).rejects.toThrow(/payloadMax is 1/);
});
