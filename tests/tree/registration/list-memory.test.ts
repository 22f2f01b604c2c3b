// Lists are bounded by the memory they take: a registrant whose tools are full of `{}` is cut, says why, and takes
// nothing from others. Each attack has an honest neighbour beside it, and the same in a smaller size that passes.
import { afterEach, expect, test } from "vitest";
import { memoryInUse } from "../../hostile/memory-in-use.ts";
import { startTestServer, type TestServer, type TestServerOptions } from "../../support/test-server.ts";
import { ask, callTool, type Place } from "../support/ask.ts";
import {
  type Message,
  type RawOptions,
  type RawRegistrant,
  rawRegistrant,
  registrationOf,
  toolOf,
} from "./support/raw-registrant.ts";

const mebi = 1_048_576;
const limits = {
  // Memory and not the number of values is what ends here.
  valuesMax: 1_000_000,
  listBytesPerServerMax: 4 * mebi,
  listBytesPerPrincipalMax: 6 * mebi,
  listBytesMax: 64 * mebi,
};

const registrants: RawRegistrant[] = [];
let server: TestServer | undefined;

afterEach(async () => {
  for (const one of registrants.splice(0)) one.cut();
  await server?.stop();
});

async function start(options: TestServerOptions = {}) {
  const started = await startTestServer({ limits, config: { degraded: { grace: 0 } }, ...options });
  server = started;
  const token = await started.token({ sub: "alice", topics: [], tools: ["**"] });
  const place: Place = { url: `${started.url}/mcp`, token };
  const come = async (sub: string, segment: string, more: RawOptions) => {
    const own = await started.token({ sub, topics: [], segment, scope: "write" });
    const registrant = await rawRegistrant(started.url, own, { parentId: null, ...more });
    registrants.push(registrant);
    const { error } = await registrant.register(registrationOf(segment));
    expect(error).toBeUndefined();
    return registrant;
  };
  const status = async (segment: string): Promise<Message> => {
    const { message } = await callTool(place, "mcpax.status");
    return message.result.structuredContent.servers.find(({ name }: Message) => name === segment);
  };
  const named = async (segment: string): Promise<string[]> => {
    const { message } = await ask(place, "tools/list");
    return message.result.tools
      .map(({ name }: Message) => name)
      .filter((name: string) => name.startsWith(`${segment}.`));
  };
  await come("honest", "honest", { tools: [toolOf("t")] });
  await expect.poll(() => named("honest")).toEqual(["honest.t"]);
  const isUntouched = async () => {
    expect(await named("honest")).toEqual(["honest.t"]);
    const { message } = await callTool(place, "honest.t", { a: 1 });
    expect(JSON.stringify(message.result)).toContain('\\"a\\":1');
    expect((await status("honest")).state).toBe("up");
  };
  return { come, status, named, isUntouched, place };
}

/** Three characters and 64 bytes each; `bytes` of them in each tool. */
const full = (name: string, bytes: number) => ({ ...toolOf(name), x: Array(bytes / 64).fill({}) });
const many = (count: number, bytes: number) => Array.from({ length: count }, (_, i) => full(`t${i}`, bytes));

test("[AX-10.4-1] a list that takes too much memory is cut: what fits is listed, the server says why, others notice nothing", async () => {
  const { come, status, named, isUntouched } = await start();
  // 120 KB of text, 2.5 MiB of memory and more: below the bound.
  const modest = await come("modest", "modest", { tools: many(2, mebi) });
  await expect.poll(() => named("modest")).toEqual(["modest.t0", "modest.t1"]);
  expect(await status("modest")).toMatchObject({ state: "up" });
  modest.cut();
  await come("greedy", "greedy", { tools: many(12, mebi) });
  await expect.poll(async () => (await named("greedy")).length).toBe(3);
  expect(await status("greedy")).toMatchObject({
    state: "ailing",
    tools: 3,
    list_faults: {
      tools: "its lists take more than 4194304 bytes of memory; 3 are listed, the rest is left out",
    },
  });
  await isUntouched();
});

test("however many segments one principal registers, they share one room; who leaves gives it back", async () => {
  const { come, status, named, isUntouched } = await start();
  const tools = many(3, mebi);
  const first = await come("greedy", "one", { tools });
  await expect.poll(async () => (await named("one")).length).toBe(3);
  await come("greedy", "two", { tools });
  await expect.poll(async () => (await named("two")).length).toBe(1);
  expect((await status("two")).list_faults.tools).toContain("all servers that its principal has registered");
  // Somebody else has a room of its own.
  await come("other", "three", { tools });
  await expect.poll(async () => (await named("three")).length).toBe(3);
  await isUntouched();
  first.cut();
  await expect.poll(() => named("one")).toEqual([]);
  const again = await come("greedy", "four", { tools });
  await expect.poll(async () => (await named("four")).length).toBe(3);
  again.cut();
  await isUntouched();
});

test("a list that is read anew takes the place of the one before, however often", async () => {
  const { come, named, status, isUntouched } = await start();
  let round = 0;
  const list = () => ({ tools: many(3, mebi).map((tool, i) => ({ ...tool, name: `r${round}-${i}` })) });
  const registrant = await come("busy", "busy", { list });
  for (round = 1; round <= 5; round += 1) {
    registrant.notify("notifications/tools/list_changed");
    await expect.poll(() => named("busy")).toEqual([0, 1, 2].map((i) => `busy.r${round}-${i}`));
  }
  expect(await status("busy")).toMatchObject({ state: "up" });
  await isUntouched();
});

test("clients of other kinds take no room for good: a list that is wanted now comes before those kept for them", async () => {
  const { come, place, isUntouched } = await start();
  await come("greedy", "greedy", { tools: many(3, mebi) });
  for (const capabilities of [{}, { sampling: {} }, { elicitation: {} }, { roots: {} }]) {
    const listed = async () => {
      const { message } = await ask(place, "tools/list", {}, { capabilities });
      return message.result.tools.filter(({ name }: Message) => name.startsWith("greedy.")).length;
    };
    await expect.poll(listed).toBe(3);
  }
  await isUntouched();
});

test("registering and leaving with full lists, again and again, keeps nothing", async () => {
  const { come, named, isUntouched, place } = await start();
  const shapes = [{}, { sampling: {} }, { elicitation: {} }, { roots: {} }];
  const round = async (i: number) => {
    const one = await come("greedy", "loop", { tools: many(3, mebi) });
    await expect.poll(async () => (await named("loop")).length).toBe(3);
    await ask(place, "tools/list", {}, { capabilities: shapes[i % shapes.length] as object });
    one.cut();
    await expect.poll(() => named("loop")).toEqual([]);
    one.asked.length = 0;
  };
  await round(0);
  const before = memoryInUse().heap;
  for (let i = 0; i < 8; i += 1) await round(i);
  await isUntouched();
  expect(memoryInUse().heap - before).toBeLessThan(8 * mebi);
});

test("a server that says too much of itself is not talked to", async () => {
  const { come, status, isUntouched } = await start();
  await come("wordy", "wordy", { instructions: "x".repeat(100_000), tools: [toolOf("t")] });
  await expect.poll(async () => (await status("wordy")).tools).toBe(1);
  const capabilities = { tools: {}, experimental: { x: Array(10_000).fill({}) } };
  await come("greedy", "greedy", { capabilities, tools: [toolOf("t")] });
  await expect
    .poll(async () => (await status("greedy")).fault)
    .toContain("its name, capabilities and instructions take more than 262144 bytes of memory");
  expect((await status("greedy")).tools).toBe(0);
  await isUntouched();
});
