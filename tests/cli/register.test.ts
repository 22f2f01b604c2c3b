// `mcpx register URL SEGMENT -- CMD…`: real servers become part of a running tree, and leave it.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { mintTokens } from "../faults/support/tokens.ts";
import { programArgs } from "../support/programs.ts";
import { ask, callTool, type Message, type Place, textOf } from "../tree/support/ask.ts";
import { stdioBackend } from "../tree/support/backends.ts";
import { startUp, type Up } from "../tree/support/mcpx-up.ts";
import { mcpx, type RunningCommand, type RunOptions, scratch, start, up } from "./support/mcpx-process.ts";

const root = dirname(dirname(import.meta.dirname));
const everything = join(root, "node_modules/@modelcontextprotocol/server-everything/dist/index.js");
const fixture = programArgs("tests/conformance/fixture/main.ts");

let gateway: Up;
let place: Place;

beforeAll(async () => {
  const config = { mcpServers: {}, degraded: { grace: "60s" }, log: { level: "error" } };
  gateway = await startUp(config as never);
  place = { url: gateway.url, token: await gateway.token() };
});

afterAll(() => gateway.stop());

const url = () => gateway.url.replace(/\/mcp$/, "");

function register(segment: string, server: readonly string[], options: RunOptions = {}): RunningCommand {
  const words = ["register", url(), segment, "--data", gateway.dataDir, "--heartbeat", "1s"];
  return start([...words, "--", process.execPath, ...server], options);
}

async function registered(segment: string, server: readonly string[], options: RunOptions = {}) {
  const command = register(segment, server, options);
  await command.line(new RegExp(`^${segment} is part of the tree; Ctrl-C ends$`));
  return command;
}

async function named(segment: string, at = place): Promise<string[]> {
  const { message } = await ask(at, "tools/list");
  return message.result.tools
    .map(({ name }: Message) => name)
    .filter((name: string) => name.startsWith(`${segment}.`));
}

async function availability(name: string): Promise<string | undefined> {
  const { message } = await ask(place, "tools/list");
  const tool = message.result.tools.find((one: Message) => one.name === name);
  return tool?._meta["x-mcpax-capability"].availability;
}

const call = (name: string, args: object) =>
  mcpx(["call", name, JSON.stringify(args), "--yes", "--data", gateway.dataDir]);

test("[AX-6.1-1] the published server is listed and called, and gone at Ctrl-C", async () => {
  const command = await registered("all", [everything, "stdio"]);
  await expect.poll(() => named("all")).toContain("all.echo");
  expect(await call("all.echo", { message: "hi" })).toMatchObject({ code: 0, out: "Echo: hi" });
  command.kill("SIGINT");
  expect(await command.ended).toEqual({ code: 0, signal: null });
  // At once, and not when its heartbeats are missed.
  expect(await named("all")).toEqual([]);
});

test.for(["legacy", "modern", "both"])("[AX-6.1-3] a server of the official SDK, %s", async (era) => {
  await registered(era, [...fixture, "--transport", "stdio", "--era", era]);
  await expect.poll(() => named(era)).toContain(`${era}.test_simple_text`);
  const { code, out } = await call(`${era}.test_simple_text`, {});
  expect([code, out]).toEqual([0, "This is a simple text response for testing."]);
  const heard = await callTool(place, `${era}.test_tool_with_progress`, {}, { meta: { progressToken: "p" } });
  const progress = heard.texts.map((text) => JSON.parse(text)).filter(({ method }) => method === "notifications/progress");
  expect(progress.length).toBeGreaterThan(0);
  for (const { params } of progress) expect(params.progressToken).toBe("p");
}); // biome-ignore format: one filter

/** Calls a tool, answers what it asks, and gives back the questions with its result. */
async function answering(name: string, args: object, capabilities: object, answer: object) {
  const params = { name, arguments: args };
  const { message: first } = await ask(place, "tools/call", params, { capabilities });
  expect(first.result).toMatchObject({ resultType: "input_required" });
  const { inputRequests, requestState } = first.result;
  const inputResponses = Object.fromEntries(Object.keys(inputRequests).map((key) => [key, answer]));
  const again = { ...params, inputResponses, ...(requestState !== undefined && { requestState }) };
  const done = await ask(place, "tools/call", again, { capabilities });
  return { questions: Object.values(inputRequests) as Message[], text: textOf(done) };
}

test.for(["legacy", "modern"])("a server's questions reach whoever called: elicitation, %s", async (era) => {
  await registered(`asks-${era}`, [...fixture, "--transport", "stdio", "--era", era]);
  const tool = `asks-${era}.test_elicitation`;
  await expect.poll(() => named(`asks-${era}`)).toContain(tool);
  const answer = { action: "accept", content: { response: "certainly" } };
  const { questions, text } = await answering(tool, { message: "sure?" }, { elicitation: { form: {} } }, answer);
  expect(questions).toMatchObject([{ method: "elicitation/create", params: { message: "sure?" } }]);
  expect(text).toContain("certainly");
}); // biome-ignore format: one call

test("a server's questions reach whoever called: sampling, of the published server", async () => {
  await registered("samples", [everything, "stdio"]);
  await expect.poll(() => named("samples")).toContain("samples.echo");
  const tool = "samples.trigger-sampling-request";
  const answer = { role: "assistant", model: "m", content: { type: "text", text: "a model's word" } };
  const capabilities = { sampling: {} };
  const { questions, text } = await answering(tool, { prompt: "p", maxTokens: 5 }, capabilities, answer);
  expect(questions).toMatchObject([{ method: "sampling/createMessage", params: { maxTokens: 5 } }]);
  expect(text).toContain("a model's word");
});

test("[AX-13.1-2] a gateway that was killed finds it again after its restart", async () => {
  const dataDir = scratch();
  const gates = { rules: [{ tools: "**", action: "allow" }] };
  writeFileSync(join(dataDir, "mcpx.json"), JSON.stringify({ gates }));
  const first = await up(dataDir, ["--no-demo"]);
  const words = ["register", first.url, "back", "--data", dataDir, "--heartbeat", "1s"];
  const command = start([...words, "--", process.execPath, ...stdioBackend().args]);
  await command.line(/^back is part of the tree/);
  process.kill(first.pid, "SIGKILL");
  await first.ended;
  await command.line(/^-- not registered: .*; trying again$/);
  const port = new URL(first.url).port;
  const second = start(["up", "--port", port, "--json", "--no-demo", "--data", dataDir]);
  await second.line(/^\{"url"/);
  const [token = ""] = await mintTokens(dataDir, [{ sub: "alice", topics: [], tools: ["**"] }]);
  const at = { url: `${first.url}/mcp`, token };
  await expect.poll(() => named("back", at)).toContain("back.work");
  expect(textOf(await callTool(at, "back.work"))).toMatch(/^[0-9]+$/);
});

function jsonRegister(segment: string, more: readonly string[] = [], options: RunOptions = {}) {
  const words = ["register", url(), segment, "--json", "--data", gateway.dataDir, ...more];
  return start([...words, "--", process.execPath, ...stdioBackend().args], options);
}

const answerOf = async (command: RunningCommand) => JSON.parse(await command.line(/^\{"event"/));

test("[AX-4.2-4] one that was killed and comes again is the same one, and has its segment at once", async () => {
  const first = jsonRegister("same");
  expect(await answerOf(first)).toMatchObject({
    event: "registered",
    status: "registered",
    assigned_segment: "same",
    heartbeat_interval_ms: 5_000,
    epoch: 1,
  });
  await expect.poll(() => named("same")).toContain("same.work");
  first.kill("SIGKILL");
  await first.ended;
  await expect.poll(() => availability("same.work")).toBe("degraded");
  // The epoch is counted by id: with another one it would begin again.
  const second = jsonRegister("same");
  expect((await answerOf(second)).epoch).toBe(2);
  await expect.poll(() => availability("same.work")).not.toBe("degraded");
  expect(second.out).toHaveLength(1);
});

test("[AX-4.2-4] it takes over from one that has stopped, and that one ends when it goes on", async () => {
  const first = jsonRegister("lingers");
  await answerOf(first);
  first.kill("SIGSTOP");
  const second = jsonRegister("lingers");
  expect((await answerOf(second)).epoch).toBe(2);
  first.kill("SIGCONT");
  expect((await first.ended).code).toBe(1);
  expect(first.err.at(-1)).toContain("it has registered again");
  await expect.poll(() => named("lingers")).toContain("lingers.work");
});

test("[AX-4.2-1] [B-REG-1] a segment somebody has is refused, and one that the token does not name, with what to do", async () => {
  await answerOf(jsonRegister("taken"));
  const refusal = async (claims: object) => {
    const [token = ""] = await mintTokens(gateway.dataDir, [{ sub: "other", topics: [], ...claims }]);
    const words = ["register", url(), "taken", "--token", token, "--data", scratch()];
    const { code, err } = await mcpx([...words, "--", process.execPath, ...stdioBackend().args]);
    expect(code).toBe(1);
    return err;
  };
  expect(await refusal({ segment: "taken" })).toMatch(
    /^mcpx: .*namespace_conflict.*; Register under another segment$/,
  );
  expect(await refusal({})).toBe(
    "mcpx: The authority is not proven: the token names no segment; Get a token with `npx mcpx token --segment taken` at the aggregator",
  );
});

test("[AX-10.1-1] a wrong token ends it, in one line and without the token", async () => {
  const words = ["register", url(), "wrong", "--token", "not-a-token", "--data", scratch(), "--", "cat"];
  const { code, out, err } = await mcpx(words);
  expect([code, out, err.split("\n").length]).toEqual([1, "", 1]);
  expect(err).toContain("401");
  expect(err).not.toContain("not-a-token");
});

test("[AX-10.1-1] its server sees neither our token nor that of the one that calls", async () => {
  const record = join(scratch(), "record");
  const env = { MCPX_TOKEN: await gateway.token({ tools: [], segment: "spy", scope: "write" } as never) };
  await registered("spy", stdioBackend({ record }).args, { env });
  await expect.poll(() => named("spy")).toContain("spy.echo");
  await callTool(place, "spy.echo", { a: 1 });
  const seen = readFileSync(record, "utf8");
  expect(seen).toContain("tools/call");
  for (const secret of [env.MCPX_TOKEN, place.token]) expect(seen).not.toContain(secret);
});

test("its server's own words are shown, harmlessly", async () => {
  const script = 'console.error("\\u001b[31mhello"); process.stdin.resume()';
  const command = await registered("talks", ["-e", script]);
  expect(await command.line(/hello/)).toBe("[talks] \\u001b[31mhello");
});

test.for([
  ["no server", ["http://127.0.0.1:9", "a", "--token", "x"], "there is no server to register"],
  ["a command and --server", ["http://127.0.0.1:9", "a", "--server", "http://127.0.0.1:8", "--", "cat"], "cannot be combined"],
  ["no such command", ["http://127.0.0.1:9", "a", "--token", "x", "--", "no-such-command"], "no-such-command is not there or not on PATH"],
  ["no segment", ["http://127.0.0.1:9"], "missing argument: SEGMENT"],
  ["no address", ["nonsense", "a", "--token", "x", "--", "cat"], '"nonsense" is not the address of a tree'],
  ["another scheme", ["ftp://127.0.0.1", "a", "--token", "x", "--", "cat"], "is not the address of a tree"],
  ["a password in the address", ["http://a:b@127.0.0.1", "a", "--token", "x", "--", "cat"], "is not the address of a tree"],
  ["a bad segment", ["http://127.0.0.1:9", "A.b", "--token", "x", "--", "cat"], '"A.b" cannot be a segment'],
  ["no token", ["http://127.0.0.1:9", "a", "--", "cat"], "URL needs a token of that gateway"],
  ["a bad heartbeat", ["http://127.0.0.1:9", "a", "--token", "x", "--heartbeat", "often", "--", "cat"], "--heartbeat often is not a duration"],
  ["a bad scope", ["http://127.0.0.1:9", "a", "--token", "x", "--scope", "root", "--", "cat"], 'invalid value "root" for --scope'],
  ["a bad authority", ["http://127.0.0.1:9", "a", "--token", "x", "--authority", "a_b", "--", "cat"], "--authority a_b is not a DNS name"],
  ["a bad server", ["http://127.0.0.1:9", "a", "--token", "x", "--server", "cat"], "--server cat is not an http or https address"],
] as const)("misuse: %s", async ([, words, fault]) => {
  const { code, out, err } = await mcpx(["register", ...words, "--data", scratch()]);
  expect([code, out, err.split("\n").length]).toEqual([2, "", 1]);
  expect(err).toContain(fault);
}); // biome-ignore format: a table

test("[AX-10.1-2] a token made here is not shown to backups elsewhere", async () => {
  const words = ["register", url(), "b", "--backup", "http://127.0.0.1:9", "--data", gateway.dataDir];
  const { code, err } = await mcpx([...words, "--", "cat"]);
  expect([code, err]).toEqual([
    2,
    "mcpx: --backup needs a token that is good there too; give --token TOKEN or set MCPX_TOKEN",
  ]);
});

test("[AX-6.1-3] a server that speaks HTTP is registered by its address", async () => {
  const server = start([...fixture, "--transport", "http", "--era", "both"], {
    program: [process.execPath],
    isTyped: true,
  });
  const { url: address } = JSON.parse(await server.line(/^\{"url"/));
  const words = ["register", `${url().replace("http", "ws")}/ax`, "web", "--server", address];
  const command = start([...words, "--data", gateway.dataDir]);
  onTestFinished(() => command.kill("SIGKILL"));
  await command.line(/^web is part of the tree/);
  await expect.poll(() => named("web")).toContain("web.test_simple_text");
  expect((await call("web.test_simple_text", {})).code).toBe(0);
});
