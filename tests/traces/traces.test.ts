// One trace from the client's call over its gate and the decision of a person to the server, seen by a collector that
// takes nothing but OTLP.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { joinRoom } from "@mcpx/client";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect, onTestFinished, test } from "vitest";
import { mcpx, scratch, up } from "../cli/support/mcpx-process.ts";
import { mintTokens } from "../faults/support/tokens.ts";
import { type OtlpReceiver, type SeenSpan, startReceiver, valuesOf } from "./support/otlp-receiver.ts";

const slow = { timeout: 60_000 };
const server = join(import.meta.dirname, "support", "meta-server.ts");
const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const [, traceId, callerSpan] = traceparent.split("-");

async function receiver(): Promise<OtlpReceiver> {
  const started = await startReceiver();
  onTestFinished(() => started.close());
  return started;
}

interface Stage {
  url: string;
  dataDir: string;
  run(...words: string[]): ReturnType<typeof mcpx>;
  /** The text of the tool's answer. */
  call(tool: string, meta?: Record<string, unknown>): Promise<string>;
  ask(
    method: string,
    params: Record<string, unknown>,
    meta?: Record<string, unknown>,
  ): ReturnType<typeof ask>;
  pendingId(): Promise<string>;
  stop(): Promise<void>;
}

/** A gateway with a server whose tools say what `_meta` they got, and a person who approves. */
async function stage(env: Record<string, string>, more: object = {}): Promise<Stage> {
  const dataDir = scratch();
  const papers = { command: process.execPath, args: [server], trusted: true };
  const mcpServers = { papers, hall: { room: "ops" } };
  const config = { mcpServers, gates: { hold: "20s" }, ...more };
  writeFileSync(join(dataDir, "mcpx.json"), JSON.stringify(config));
  const gateway = await up(dataDir, [], { cwd: dataDir, env });
  const run = (...words: string[]) => mcpx([...words, "--data", dataDir], { cwd: dataDir });
  const [token = ""] = await mintTokens(dataDir, [{ sub: "agent", topics: [], tools: ["**"] }]);
  return {
    ...{ url: gateway.url, dataDir, run },
    call: (tool, meta) => callTool(gateway.url, token, tool, meta),
    ask: (method, params, meta) => ask(gateway.url, token, method, params, meta),
    pendingId: () =>
      expect
        .poll(async () => JSON.parse((await run("pending", "--json")).out)[0]?.id as string | undefined)
        .toBeDefined()
        .then(async () => JSON.parse((await run("pending", "--json")).out)[0].id as string),
    async stop() {
      gateway.kill("SIGTERM");
      expect(await gateway.ended).toEqual({ code: 0, signal: null });
    },
  };
}

async function callTool(
  url: string,
  token: string,
  name: string,
  meta?: Record<string, unknown>,
): Promise<string> {
  const { result, data } = await ask(url, token, "tools/call", { name, arguments: {} }, meta);
  return (result as { content?: { text: string }[] } | undefined)?.content?.[0]?.text ?? data;
}

async function ask(
  url: string,
  token: string,
  method: string,
  params: Record<string, unknown>,
  meta?: Record<string, unknown>,
  path = "/mcp",
): Promise<{ result: unknown; data: string }> {
  const protocol = "2026-07-28";
  const hop = {
    "io.modelcontextprotocol/protocolVersion": protocol,
    "io.modelcontextprotocol/clientInfo": { name: "tracer", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      authorization: `Bearer ${token}`,
      "mcp-protocol-version": protocol,
      "mcp-method": method,
      "mcp-name": String(params.name ?? params.uri ?? ""),
    },
    body: JSON.stringify({
      ...{ jsonrpc: "2.0", id: 1, method },
      params: { ...params, _meta: { ...hop, ...meta } },
    }),
  });
  const body = await response.text();
  const data = body.startsWith("{") ? body : (body.match(/^data: (\{.*"(?:result|error)".*)$/m)?.[1] ?? body);
  return { result: (JSON.parse(data) as { result?: unknown }).result, data };
}

/** Where each stands: its name, its kind, and the name of its parent. */
function told(spans: readonly SeenSpan[]): string[] {
  const kinds = ["", "internal", "server", "client"];
  const nameOf = (id: string | undefined) =>
    id === callerSpan ? "the caller" : (spans.find(({ spanId }) => spanId === id)?.name ?? "nobody");
  return spans
    .map(({ name, kind, parentSpanId }) => `${name} (${kinds[kind]}) of ${nameOf(parentSpanId)}`)
    .sort();
}

test("[B-OBS-1] one trace: the call, its gate, the decision, the way to the server", slow, async () => {
  const collector = await receiver();
  const { run, call, pendingId, stop } = await stage({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: "x-api-key=a%20key",
    OTEL_SERVICE_NAME: "the gate",
  });
  await run("key", "new", "--unsealed");
  await run("key", "enroll", "alice", "--unsealed");
  const called = call("papers.shred", { traceparent, tracestate: "v=1", "example.com/own": 1 });
  expect(await run("approve", await pendingId(), "--yes")).toMatchObject({ code: 0 });
  const meta = JSON.parse(await called) as { traceparent: string };
  const failed = call("papers.fail");
  await failed;
  // What is left is sent at the end.
  await stop();
  expect(collector.faults).toEqual([]);
  const spans = collector.spans.filter((span) => span.traceId === traceId);
  expect(told(spans)).toEqual([
    "gate papers.shred (internal) of tools/call papers.shred",
    "tools/call papers.shred (client) of gate papers.shred",
    "tools/call papers.shred (server) of the caller",
  ]);
  const gate = spans.find(({ name }) => name.startsWith("gate"));
  expect(valuesOf(gate?.attributes ?? [])).toMatchObject({ "mcpx.gate.outcome": "approved" });
  expect(gate?.events.map(({ name }) => name)).toEqual(["mcpx.gate.decided"]);
  const hop = spans.find(({ kind }) => kind === 3);
  expect(meta.traceparent).toBe(`00-${traceId}-${hop?.spanId}-01`);
  expect(valuesOf(hop?.attributes ?? [])).toEqual({
    "mcp.method.name": "tools/call",
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "papers.shred",
    "mcpx.server": "papers",
  });
  const others = collector.spans.filter((span) => span.traceId !== traceId);
  expect(others.map(({ name, status }) => `${name} ${status.code}`)).toEqual([
    "tools/call papers.fail 2",
    "tools/call papers.fail 2",
  ]);
  expect(new Set(others.map((span) => span.traceId)).size).toBe(1);
  expect(collector.resources[0]).toMatchObject({ "service.name": "the gate" });
  expect(collector.headers[0]).toMatchObject({ "x-api-key": "a key" });
  expect(JSON.stringify(collector.spans)).not.toContain("agent");
});

test(
  "prompts, resources and completions have a trace of their own, which reaches the server",
  slow,
  async () => {
    const collector = await receiver();
    const { ask: send, stop } = await stage({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    const ref = { type: "ref/prompt", name: "papers.ask" };
    const asked: [string, Record<string, unknown>][] = [
      ["prompts/get", { name: "papers.ask" }],
      ["resources/read", { uri: "mcpx://papers/file:///private" }],
      ["completion/complete", { ref, argument: { name: "a", value: "" } }],
    ];
    const answers = new Map<string, string>();
    for (const [method, params] of asked)
      answers.set(method, (await send(method, params, { traceparent })).data);
    await stop();
    expect(collector.faults).toEqual([]);
    const spans = collector.spans.filter((span) => span.traceId === traceId);
    expect(told(spans)).toEqual([
      "completion/complete (client) of completion/complete",
      "completion/complete (server) of the caller",
      "prompts/get papers.ask (client) of prompts/get papers.ask",
      "prompts/get papers.ask (server) of the caller",
      "resources/read (client) of resources/read",
      "resources/read (server) of the caller",
    ]);
    for (const { name, kind, spanId } of spans.filter((one) => one.kind === 3))
      expect(answers.get(name.split(" ")[0] ?? ""), String(kind)).toContain(`00-${traceId}-${spanId}-01`);
    expect(JSON.stringify(collector.spans)).not.toContain("private");
  },
);

test(
  "without OTEL_… nothing is sent, and what the caller says of its trace reaches the server as it is",
  slow,
  async () => {
    const collector = await receiver();
    const { call, stop } = await stage({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_SDK_DISABLED: "true",
    });
    const given = { traceparent, tracestate: "v=1" };
    expect(JSON.parse(await call("papers.look", given))).toMatchObject(given);
    await stop();
    expect(collector.headers).toEqual([]);
  },
);

test("a wrong variable is named, with what it may be", async () => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4317", OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" };
  const { code, err } = await mcpx(["up", "--port", "0", "--no-demo", "--data", scratch()], { env });
  expect(code).toBe(1);
  expect(err).toContain('OTEL_EXPORTER_OTLP_PROTOCOL is "grpc"; mcpx sends traces as http/json');
});

/** A participant whose tool says what `_meta` it was called with. */
async function robotIn(url: string, token: string): Promise<void> {
  const room = await joinRoom({ url, topic: "ops", token });
  onTestFinished(() => room.close());
  await room.serve(() => {
    const server = new Server({ name: "robot", version: "1" }, { capabilities: { tools: {} } });
    const tools = [
      { name: "look", annotations: { readOnlyHint: true }, inputSchema: { type: "object" as const } },
    ];
    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
    server.setRequestHandler(CallToolRequestSchema, ({ params }) => ({
      content: [{ type: "text", text: JSON.stringify(params._meta ?? null) }],
    }));
    return server as never;
  });
}

const metaIn = (answer: unknown) =>
  JSON.parse((answer as { content: { text: string }[] }).content[0]?.text ?? "") as Record<string, unknown>;

test(
  "one trace goes through a room: to a participant's server, from a client of the room or of the tree, and from a member to the tree",
  slow,
  async () => {
    const collector = await receiver();
    const { url, dataDir, stop } = await stage(
      { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
      { topics: { ops: { tree: true } }, gates: { rules: [{ tools: "hall.**", action: "allow" }] } },
    );
    const claims = { topics: ["ops"], level: "full" as const, tools: ["**"] };
    const [robot = "", anna = ""] = await mintTokens(dataDir, [
      { sub: "robot", ...claims },
      { sub: "anna", ...claims },
    ]);
    await robotIn(url, robot);
    const call = (name: string, path: string) =>
      ask(url, anna, "tools/call", { name, arguments: {} }, { traceparent, "example.com/own": 1 }, path);
    const inRoom = metaIn((await call("robot.look", "/rooms/ops/mcp")).result);
    const inTree = metaIn((await call("hall.robot.look", "/mcp")).result);
    const room = await joinRoom({ url, topic: "ops", token: anna });
    const fromRoom = metaIn(await room.peer("tree").callTool("papers.look", {}, { meta: { traceparent } }));
    await room.close();
    await stop();
    expect(collector.faults).toEqual([]);
    const hopOf = ({ traceparent: sent }: Record<string, unknown>) =>
      collector.spans.find(({ spanId, kind }) => kind === 3 && sent === `00-${traceId}-${spanId}-01`)?.name;
    expect([inRoom, inTree, fromRoom].map(hopOf)).toEqual([
      "tools/call robot.look",
      "tools/call hall.robot.look",
      "tools/call papers.look",
    ]);
    // Nothing else of what a client says beside its call goes to a participant.
    expect([inRoom, inTree].map((meta) => Object.keys(meta))).toEqual([["traceparent"], ["traceparent"]]);
    expect(told(collector.spans.filter((span) => span.traceId === traceId))).toEqual([
      "tools/call hall.robot.look (client) of tools/call hall.robot.look",
      "tools/call hall.robot.look (server) of the caller",
      "tools/call papers.look (client) of tools/call papers.look",
      "tools/call papers.look (server) of the caller",
      "tools/call robot.look (client) of tools/call robot.look",
      "tools/call robot.look (server) of the caller",
    ]);
  },
);
