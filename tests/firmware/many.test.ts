// A hundred devices on sockets of their own, and one among them that hears and does not answer.
import type { Config } from "@mcpx/cli";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type SimulatedStub,
  simulatedConfig,
  startSimulatedStub,
} from "../../packages/devices/src/testing/simulated-stub.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

const count = 100;
/** How long a call waits for a device that does not answer: longer than everything here takes, less than the tree. */
const silentMs = 25_000;

let stubs: SimulatedStub[];
let server: TestServer;
let client: Client;

beforeAll(async () => {
  stubs = await Promise.all(Array.from({ length: count }, startSimulatedStub));
  server = await startTestServer({ config: { devices: Object.fromEntries(stubs.map(entryOf)) } });
  client = new Client({ name: "unmodified", version: "1.0.0" });
  const token = await server.token({ sub: "alice", topics: [], tools: ["**"] });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${server.url}/mcp?names=canonical`), { requestInit }),
  );
});

afterAll(async () => {
  await client.close();
  await server.stop();
  await Promise.all(stubs.map((stub) => stub[Symbol.asyncDispose]()));
});

type Entry = NonNullable<Config["devices"]>[string];

function entryOf({ port }: SimulatedStub, at: number): [string, Entry] {
  const { tools } = simulatedConfig("any");
  const named = tools.map(({ name, capability, ...tool }) => [
    name,
    // Not repeated: a call ends with the first attempt.
    {
      ...tool,
      timeout: silentMs,
      capability: { ...capability, idempotent: false, latency_class: "standard" },
    },
  ]);
  return [`d${at}`, { line: `tcp://127.0.0.1:${port}`, profile: "b", tools: Object.fromEntries(named) }];
}

async function sum(at: number, a: number): Promise<unknown> {
  return (await client.callTool({ name: `d${at}.add`, arguments: { a, b: 1 } })).structuredContent;
}

test("a hundred devices come, and all are called at once", async () => {
  const names = async () => {
    const { tools } = await client.listTools();
    return tools.filter(({ name }) => /^d\d+\.add$/.test(name)).length;
  };
  await expect.poll(names).toBe(count);
  const sums = await Promise.all(stubs.map((_, at) => sum(at, at)));
  expect(sums).toEqual(stubs.map((_, at) => ({ sum: at + 1 })));
});

test("a silent one delays nobody but those who call it", async () => {
  const silent = 7;
  const stub = stubs[silent] as SimulatedStub;
  stub.isSilent = true;
  let ended = 0;
  // The second waits for the first: what the others are spared, and what this test could see.
  const waiting = [1, 2].map(async (a) => {
    const result = await sum(silent, a);
    ended += 1;
    return result;
  });
  for (const round of [10, 20]) {
    const others = stubs.flatMap((_, at) => (at === silent ? [] : [sum(at, round)]));
    for (const one of await Promise.all(others)) expect(one).toEqual({ sum: round + 1 });
  }
  expect(ended).toBe(0);
  stub.isSilent = false;
  stub.restart();
  const [first, second] = await Promise.all(waiting);
  expect(first).toMatchObject({ reason: "indeterminate" });
  expect(second).toEqual({ sum: 3 });
});
