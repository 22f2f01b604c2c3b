// Real servers: the published one of the legacy era over each of its transports, and one on the official SDK in both
// eras over both.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { Transport } from "@mcpx/aggregator";
import { type JsonObject, McpxError } from "@mcpx/protocol";
import { expect, onTestFinished, test } from "vitest";
import { programArgs } from "../../support/programs.ts";
import { openTo, stdioOf } from "./support/open.ts";

const root = dirname(dirname(dirname(import.meta.dirname)));
const everything = join(root, "node_modules/@modelcontextprotocol/server-everything/dist/index.js");
const fixture = programArgs("tests/conformance/fixture/main.ts");

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}

/** Started for the test; resolves with the first line it prints. */
async function start(args: readonly string[], env: Record<string, string>, output: "stdout" | "stderr") {
  const child = spawn(process.execPath, args, { env, stdio: ["pipe", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  for (const stream of [child.stdout, child.stderr]) stream.resume();
  const lines = createInterface({ input: child[output] });
  for await (const line of lines) if (/\{"url"|listening|running|port/i.test(line)) return line;
  throw new Error("it ended");
}

async function everythingOver(type: "stdio" | "http" | "sse" | "auto-http"): Promise<Transport> {
  if (type === "stdio") return stdioOf(everything, "stdio");
  const port = await freePort();
  const isOld = type === "sse" || type === "auto-http";
  await start([everything, isOld ? "sse" : "streamableHttp"], { PORT: String(port) }, "stderr");
  return { type, url: `http://127.0.0.1:${port}/${isOld ? "sse" : "mcp"}` };
}

test.each(["stdio", "http", "sse", "auto-http"] as const)("the published server over %s", async (type) => {
  const { link, ask, logLines } = await openTo(await everythingOver(type));
  expect(link.facts).toMatchObject({ era: "legacy", revision: "2025-11-25" });
  const { tools } = (await ask("tools/list")) as { tools: { name: string }[] };
  expect(tools.map(({ name }) => name)).toContain("echo");
  const echo = await ask("tools/call", { name: "echo", arguments: { message: "hi" } });
  expect(echo).toMatchObject({ content: [{ text: "Echo: hi" }] });
  const progress: unknown[] = [];
  const steps = { name: "trigger-long-running-operation", arguments: { duration: 0.2, steps: 2 } };
  const notify = (method: string, params: JsonObject) => {
    if (method === "notifications/progress") progress.push(params.progress);
  };
  await ask("tools/call", steps, { wantsProgress: true, notify });
  expect(progress).toEqual([1, 2]);
  const sampling = { name: "trigger-sampling-request", arguments: { prompt: "p", maxTokens: 5 } };
  const asked: string[] = [];
  const sampled = await ask("tools/call", sampling, {
    ask: async (questions) => {
      const [key = "", question] = Object.entries(questions)[0] ?? [];
      asked.push(question?.method ?? "");
      return { [key]: { role: "assistant", model: "m", content: { type: "text", text: "sampled!" } } };
    },
  });
  // It also asks for roots when it is ready to, which may be while it is called.
  expect(asked.filter((method) => method !== "roots/list")).toEqual(["sampling/createMessage"]);
  expect(JSON.stringify(sampled)).toContain("sampled!");
  const stop = new AbortController();
  const long = { name: "trigger-long-running-operation", arguments: { duration: 60, steps: 60 } };
  const hanging = ask("tools/call", long, { signal: stop.signal });
  stop.abort(new McpxError("timeout"));
  await expect(hanging).rejects.toThrow();
  expect(logLines.filter((line) => line.startsWith("(not sent"))).toEqual([]);
});

async function fixtureOver(type: "stdio" | "http", era: string): Promise<Transport> {
  if (type === "stdio") return stdioOf(...fixture, "--transport", "stdio", "--era", era);
  const line = await start([...fixture, "--transport", "http", "--era", era], {}, "stdout");
  return { type, url: JSON.parse(line).url };
}

const cells = (["stdio", "http"] as const).flatMap((type) =>
  ["legacy", "modern", "both"].map((era) => [type, era] as const),
);

test.each(cells)("the official SDK over %s, %s", async (type, era) => {
  const { link, ask, notifications } = await openTo(await fixtureOver(type, era));
  const isModern = era !== "legacy";
  expect(link.facts.era).toBe(isModern ? "modern" : "legacy");
  const heard: string[] = [];
  const notify = (method: string) => void heard.push(method);
  const call = (name: string, more = {}) => ask("tools/call", { name, arguments: { message: "m" } }, more);
  expect(await call("test_simple_text")).toHaveProperty("content");
  await call("test_tool_with_progress", { wantsProgress: true, notify });
  await call("test_tool_with_logging", { logLevel: "debug", notify });
  expect(new Set(heard)).toEqual(new Set(["notifications/progress", "notifications/message"]));
  await call("test_trigger_tool_change");
  await expect.poll(() => notifications).toContainEqual(["notifications/tools/list_changed", {}]);
  const capabilities = { elicitation: { form: {} } };
  const elicited = await call("test_streaming_elicitation", {
    capabilities,
    ask: async (questions: object) =>
      Object.fromEntries(Object.keys(questions).map((key) => [key, { action: "decline" }])),
  });
  if (isModern) expect(elicited).toMatchObject({ resultType: "input_required", inputRequests: {} });
  else expect(JSON.stringify(elicited)).toContain("decline");
});

test.each(["legacy", "modern"])(
  "the official SDK over http, %s: a stream that ends early loses nothing",
  async (era) => {
    const { ask } = await openTo(await fixtureOver("http", era));
    const result = await ask("tools/call", { name: "test_reconnection", arguments: {} });
    expect(JSON.stringify(result)).toContain("Reconnection test completed successfully");
  },
);

test.each(cells)("what is watched is told of, over %s, %s", async (type, era) => {
  const { link, ask, notifications } = await openTo(await fixtureOver(type, era));
  link.watch(new Set(["test://watched-resource"]));
  const updated = ["notifications/resources/updated", { uri: "test://watched-resource" }];
  const change = async () => {
    await ask("tools/call", { name: "test_trigger_resource_update", arguments: {} });
    return notifications;
  };
  await expect.poll(change, { timeout: 10_000 }).toContainEqual(updated);
  link.watch(new Set());
  // Once it is told that nothing is watched, nothing more comes.
  const counts = async () => [notifications.length, (await change()).length];
  await expect.poll(async () => new Set(await counts()).size, { timeout: 10_000 }).toBe(1);
});
