// One bad server costs whoever calls it one clear error with its name, and nobody else anything. Each fault is shown
// over both transports; the same script without a fault is the control.
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { fairNow } from "../support/fair-now.ts";
import { startTestServer } from "../support/test-server.ts";
import { ask, callTool, type Heard, type Message, type Place, textOf } from "./support/ask.ts";
import { type HttpBackends, startHttpBackends, stdioBackend } from "./support/backends.ts";
import { type FaultName, faults } from "./support/faults.ts";
import { startTreeProcess, type TreeProcess } from "./support/tree-process.ts";

type Transport = "stdio" | "http";

interface Case {
  fault: FaultName;
  /** `echo` unless given. */
  tool?: string;
  /** What its caller hears: a part of the one message. */
  hears: string | RegExp | Record<Transport, RegExp>;
  /** What `mcpax.status` says of the server afterwards. */
  status: object | Record<Transport, object>;
}

const up = { state: "up" };
const ailing = (fault: string) => ({
  state: "ailing",
  list_faults: { tools: expect.stringContaining(fault) },
});
const leftOut = (fault: string) => ({ state: "up", left_out: [expect.stringContaining(fault)] });

const cases: Case[] = [
  { fault: "none", hears: /"got":\{"name":"echo","arguments":\{"a":1\}\}/, status: up },
  {
    fault: "wrong-id",
    hears: { stdio: /did not answer tools\/call within 700 ms/, http: /its stream ended before the answer/ },
    status: up,
  },
  // Reading it is slowed down, so the answer behind the flood may come too late.
  { fault: "flood", hears: /"got"|did not answer tools\/call within 700 ms/, status: up },
  { fault: "hang", hears: /did not answer tools\/call within 700 ms/, status: up },
  {
    fault: "dies",
    hears: { stdio: /"reason":"server_lost".*exit code 7/, http: /"reason":"server_lost"/ },
    status: { stdio: { state: "idle", last_loss: "exit code 7" }, http: up },
  },
  { fault: "twice", hears: /"text":"first"/, status: up },
  { fault: "huge", hears: /more than 16777216 bytes/, status: up },
  { fault: "no-list", hears: /no-list/, status: ailing("did not list within 1000 ms") },
  { fault: "circle", hears: /circle/, status: ailing("its list repeats a page cursor") },
  { fault: "endless", hears: /endless/, status: ailing("its list has more than 1000 pages") },
  { fault: "heavy", hears: /heavy/, status: ailing("more than 16777216 bytes of its list cannot be used") },
  { fault: "crowd", hears: /crowd/, status: ailing("it lists more than 20000") },
  {
    fault: "garbage",
    hears: { stdio: /did not answer tools\/call within 700 ms/, http: /its stream ended before the answer/ },
    status: up,
  },
  {
    fault: "exits",
    hears: { stdio: /"reason":"server_unreachable".*exit code 1/, http: /"reason":"server_unreachable"/ },
    status: { state: "down", fault: expect.any(String), retry_after_ms: expect.any(Number) },
  },
  { fault: "no-rpc", hears: /"reason":"bad_server_answer"/, status: up },
  { fault: "no-content", hears: /"result":\{"resultType":"complete","_meta"/, status: up },
  {
    fault: "odd-names",
    tool: "odd_n_me_7",
    hears: /"text":"Odd Näme 7"/,
    // One of them hides text in its name: it waits to be accepted.
    status: { state: "up", tools: 10_012 },
  },
  { fault: "same-names", hears: /"reason":"unknown_tool"/, status: { state: "up", tools: 4_096 } },
  { fault: "bomb", hears: /"reason":"unknown_tool"/, status: leftOut("echo: nested deeper than 128") },
  { fault: "trap", hears: /"got":\{"name":"echo","arguments":\{"a":1\}\}/, status: up },
  { fault: "abyss", tool: "work", hears: /"text":"\d+"/, status: leftOut("echo: nested deeper than 128") },
  { fault: "deep-answer", hears: /"reason":"bad_server_answer".*nested too deeply/, status: up },
  {
    fault: "prototype",
    tool: "__proto__",
    hears: /"__proto__":\{"polluted":true\}/,
    status: { ...up, tools: 5 },
  },
  { fault: "impostor", tool: "good_echo", hears: /"text":"good.echo"/, status: { ...up, tools: 4 } },
];

/** What these are asked may never be answered. */
const silent: ReadonlySet<FaultName> = new Set(["wrong-id", "flood", "hang", "garbage"]);

let backends: HttpBackends;
let tree: TreeProcess;

beforeAll(async () => {
  backends = await startHttpBackends();
  const bad = (Object.keys(faults) as FaultName[]).flatMap((fault) => {
    const patience = {
      timeout: silent.has(fault) ? 700 : 20_000,
      listTimeout: fault === "no-list" ? 1_000 : 20_000,
    };
    return [
      [`${fault}-stdio`, { ...stdioBackend({ fault }), ...patience }] as const,
      [`${fault}-http`, { url: backends.urlOf(fault), ...patience }] as const,
    ];
  });
  tree = await startTreeProcess({ mcpServers: { good: stdioBackend(), ...Object.fromEntries(bad) } });
  expect(textOf(await callTool(tree, "good.work"))).toMatch(/^\d+$/);
});

afterAll(async () => {
  await tree.stop();
  await backends.stop();
});

/** The slowest answer of the good server while something else is under way. */
async function slowestBeside(place: Place, work: Promise<unknown>): Promise<number> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  work.then(over, over);
  let slowest = 0;
  while (!isOver) {
    const began = fairNow();
    expect(textOf(await callTool(place, "good.work"))).toMatch(/^\d+$/);
    slowest = Math.max(slowest, fairNow() - began);
    await wait(5);
  }
  return slowest;
}

async function statusOf(place: Place, name: string): Promise<Message> {
  const { message } = await callTool(place, "mcpax.status");
  return message.result.structuredContent.servers.find((server: Message) => server.name === name);
}

const of = <T>(value: T | Record<Transport, T>, transport: Transport): T =>
  typeof value === "object" && value !== null && "stdio" in value ? value[transport] : (value as T);

test.for(cases.flatMap((one) => (["stdio", "http"] as const).map((transport) => ({ ...one, transport }))))(
  "[AX-5.1-1] a server with the fault “$fault” over $transport costs its caller one clear answer, and nobody else",
  async ({ fault, tool = "echo", hears, status, transport }) => {
    const server = `${fault}-${transport}`;
    const before = await tree.liveBytes();
    const residentBefore = tree.residentBytes();
    tree.peakBytes();
    const calling: Promise<Heard> = callTool(tree, `${server}.${tool}`, { a: 1 }, { id: "mine" });
    const slowest = await slowestBeside(tree, calling);
    const { texts, message } = await calling;
    expect(texts).toHaveLength(1);
    expect(message.id).toBe("mine");
    expect(texts[0]).toMatch(of(hears, transport));
    if (message.error !== undefined) expect(message.error.message).toContain(server);
    expect(slowest).toBeLessThan(2_000);
    // What is not collected yet counts too, but never a whole line of 200 MB.
    expect((tree.peakBytes() - residentBefore) / 1_048_576).toBeLessThan(150);
    expect(((await tree.liveBytes()) - before) / 1_048_576).toBeLessThan(64);
    expect(await statusOf(tree, server)).toMatchObject(of(status, transport));
  },
);

test("[AX-5.1-1] all of them together delay a list no longer than their own time, and the good one is in it", async () => {
  const names: string[] = [];
  let cursor: string | undefined;
  do {
    const began = fairNow();
    const { message } = await ask(tree, "tools/list", cursor === undefined ? {} : { cursor });
    // The one that never lists has a second.
    expect(fairNow() - began).toBeLessThan(10_000);
    names.push(...message.result.tools.map(({ name }: { name: string }) => name));
    cursor = message.result.nextCursor;
  } while (cursor !== undefined);
  expect(names).toEqual(expect.arrayContaining(["good.echo", "good.work", "none-http.echo", "mcpax.status"]));
  expect(new Set(names).size).toBe(names.length);
  expect(names).toEqual(names.toSorted());
  const canonical = /^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})+$/;
  expect(names.filter((name) => !canonical.test(name))).toEqual([]);
});

test("[AX-4.1-1] a server at the root takes no name of another's", async () => {
  const server = await startTestServer({
    config: {
      mcpServers: { good: stdioBackend(), top: { ...stdioBackend({ fault: "impostor" }), root: true } },
    },
  });
  onTestFinished(() => server.stop());
  const token = await server.token({ sub: "alice", topics: [], tools: ["**"] });
  const place = { url: `${server.url}/mcp`, token };
  const { message } = await ask(place, "tools/list");
  const names = message.result.tools.map(({ name }: { name: string }) => name);
  expect(names.filter((name: string) => name === "good.echo" || name === "mcpax.status")).toHaveLength(2);
  // What has a name of its own there is there.
  expect(names).toEqual(expect.arrayContaining(["good", "good__echo", "good.work"]));
  expect((await callTool(place, "good.echo", { a: 1 })).message.result.structuredContent.got.name).toBe(
    "echo",
  );
  expect(textOf(await callTool(place, "mcpax.status"))).toContain("servers");
  expect(textOf(await callTool(place, "good"))).toBe("good");
});

test("a tool that is called like another server's is not taken for it, in any dialect", async () => {
  const seen = async (url: string) => {
    const { message } = await callTool({ ...tree, url }, "good.echo", { a: 1 });
    return message.result?.structuredContent?.got?.name;
  };
  expect(await seen(tree.url)).toBe("echo");
  expect(await seen(`${tree.url}?names=safe`)).toBe("echo");
  expect(textOf(await callTool(tree, "mcpax.status"))).toContain("servers");
});

test("no member of a server's answer becomes a part of our own objects", async () => {
  const { message } = await callTool(tree, "good.echo", { a: 1 });
  expect(message.result.polluted).toBeUndefined();
  expect(JSON.stringify(message)).not.toContain("polluted");
});
