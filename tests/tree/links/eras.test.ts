// Which era a server is of, found out from what it says to a modern question.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isMcpxError } from "@mcpx/protocol";
import { expect, onTestFinished, test } from "vitest";
import { isRunning } from "../../cli/support/processes.ts";
import { hostile, openTo, stdioOf } from "./support/open.ts";
import { json, type RawRequest, rawHttp } from "./support/raw-http.ts";

async function fault(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => "opened",
    (error: unknown) => (isMcpxError(error) ? `${error.code} ${error.detail}` : String(error)),
  );
}

/** A file in which a child writes its id when it starts. */
function starts(): { file: string; pids(): number[] } {
  const dir = mkdtempSync(join(tmpdir(), "mcpx-links-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const file = join(dir, "starts");
  return { file, pids: () => readFileSync(file, "utf8").trim().split("\n").map(Number) };
}

test.each([
  ["error", 1],
  ["nonsense", 1],
  ["older", 1],
  ["silent", 1],
  ["exit", 2],
])(
  "stdio: to %s at the modern question a child is initialized; started %i times",
  async (discover, count) => {
    const { file, pids } = starts();
    const { link, call } = await openTo(hostile("--discover", discover, "--starts", file));
    expect(link.facts).toEqual({
      era: "legacy",
      revision: "2025-06-18",
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        logging: {},
      },
      info: { name: "hostile", version: "1" },
      instructions: "Be kind",
    });
    expect(await call("echo")).toBe("echo");
    expect(pids()).toHaveLength(count);
  },
);

test("stdio: a modern server is never initialized", async () => {
  const { link, call } = await openTo(hostile("--era", "modern"));
  expect(link.facts).toMatchObject({ era: "modern", revision: "2026-07-28", info: { name: "hostile" } });
  expect(link.facts.instructions).toBe("Be kind");
  const received = (await call("received")) as { method: string }[];
  expect(received.map(({ method }) => method)).toEqual([
    "server/discover",
    "subscriptions/listen",
    "tools/call",
  ]);
});

test("stdio: a modern server that is slow to start is not taken for another one", async () => {
  const { link } = await openTo(hostile("--era", "modern", "--discover", "late"));
  expect(link.facts.era).toBe("modern");
});

test("stdio: the era that is remembered is tried first, and found out again where it is wrong", async () => {
  const { file, pids } = starts();
  const legacy = await openTo(hostile("--starts", file), { era: "legacy" });
  expect((await legacy.call("received")) as object[]).toMatchObject([{ method: "initialize" }, {}, {}]);
  expect((await openTo(hostile("--era", "modern"), { era: "legacy" })).link.facts.era).toBe("modern");
  expect((await openTo(hostile("--discover", "exit"), { era: "modern" })).link.facts.era).toBe("legacy");
  expect(pids()).toHaveLength(1);
});

test("stdio: what is no MCP server is given up in time, and nothing is left of it", async () => {
  const { file, pids } = starts();
  const script = `require("node:fs").appendFileSync(${JSON.stringify(file)}, process.pid + "\\n"); setInterval(() => {}, 1000)`;
  const transport = { ...stdioOf("-e", script), timeoutMs: 1 };
  expect(await fault(openTo(transport, { timeoutMs: 1_000 }))).toBe(
    "server_unreachable near: it did not answer within 1 s",
  );
  expect(pids().map(isRunning)).toEqual([false]);
});

test("stdio: a command that is not there, ends at once or has no directory is one clear error", async () => {
  const command = { type: "stdio", args: [], cwd: tmpdir(), env: {} } as const;
  expect(await fault(openTo({ ...command, command: "/no/such" }))).toBe(
    "server_unreachable near: /no/such cannot be started (not found)",
  );
  expect(await fault(openTo({ ...command, command: "/bin/false" }))).toBe("server_lost near: exit code 1");
  expect(await fault(openTo({ ...command, command: "/bin/cat", cwd: "/no/such" }))).toBe(
    "server_unreachable near: /bin/cat cannot be started (its directory is not there)",
  );
});

const rpc = (code: number, data?: object) => ({
  jsonrpc: "2.0",
  id: null,
  error: { code, message: "no", data },
});

/** A legacy server that answers the modern question so. */
function legacyHttp(discover: (raw: RawRequest) => void) {
  return rawHttp((raw) => {
    const { message, request, response } = raw;
    if (request.method !== "POST") response.writeHead(405).end();
    else if (message.method === "server/discover") discover(raw);
    else if (message.method === "initialize") {
      const result = { protocolVersion: "2025-03-26", capabilities: {}, serverInfo: { name: "old" } };
      json(response, { jsonrpc: "2.0", id: message.id, result });
    } else response.writeHead(202).end();
  });
}

test.each<[string, (raw: RawRequest) => void]>([
  ["400 with nothing", ({ response }) => response.writeHead(400).end()],
  ["404", ({ response }) => response.writeHead(404).end("Not found")],
  ["405", ({ response }) => response.writeHead(405).end()],
  ["400 and a legacy error", ({ response }) => json(response, rpc(-32000), 400)],
  ["404 and a forgotten session", ({ response }) => json(response, rpc(-32001), 404)],
  [
    "400 and only older revisions",
    ({ response }) => json(response, rpc(-32022, { supported: ["2025-11-25"] }), 400),
  ],
  ["200 and an error", ({ response, message }) => json(response, { ...rpc(-32601), id: message.id })],
  [
    "200 and nonsense",
    ({ response, message }) => json(response, { jsonrpc: "2.0", id: message.id, result: {} }),
  ],
  ["200 and a page", ({ response }) => response.writeHead(200, { "content-type": "text/html" }).end("<p>")],
  ["500", ({ response }) => response.writeHead(500).end("Error: unknown method")],
])("http: %s at the modern question means legacy", async (_, discover) => {
  const { url } = await legacyHttp(discover);
  const { link } = await openTo({ type: "http", url });
  expect(link.facts).toMatchObject({ era: "legacy", revision: "2025-03-26", info: { name: "old" } });
});

test.each<[string, number, object | undefined, string]>([
  ["401", 401, undefined, "server_unauthorised near: it answered 401"],
  ["403", 403, rpc(-32000), "server_unauthorised near: it answered 403"],
  ["503", 503, undefined, "server_unreachable near: it answered 503"],
  ["307", 307, undefined, "server_unreachable near: it answered 307: redirects are not followed"],
  ["-32020", 400, rpc(-32020), "bad_server_answer near: it refused to be opened: no (-32020)"],
  [
    "-32022 with newer revisions only",
    400,
    rpc(-32022, { supported: ["2030-01-01"] }),
    "bad_server_answer near: it refused to be opened: no (-32022)",
  ],
])("http: %s at the modern question is no evidence of an older one", async (_, status, body, expected) => {
  const server = await rawHttp(({ response }) => {
    response.setHeader("location", "http://127.0.0.1:9/");
    json(response, body ?? "", status);
  });
  expect(await fault(openTo({ type: "auto-http", url: server.url }))).toBe(expected);
  const methods = server.requests.map(({ request, message }) => message?.method ?? request.method);
  expect(new Set(methods)).toEqual(
    new Set(status === 307 ? ["server/discover", "initialize"] : ["server/discover"]),
  );
});

test("http: nobody there, and somebody who never answers", async () => {
  expect(await fault(openTo({ type: "http", url: "http://127.0.0.1:9/mcp?key=secret" }))).toBe(
    "server_unreachable near: it cannot be reached (ECONNREFUSED)",
  );
  const { url, sockets } = await rawHttp(() => {});
  expect(await fault(openTo({ type: "http", url }, { timeoutMs: 400 }))).toBe(
    "server_unreachable near: it did not answer within 0.4 s",
  );
  await expect.poll(() => sockets.size).toBe(0);
});

test("an opening can be given up", async () => {
  const { url } = await rawHttp(() => {});
  const stop = new AbortController();
  const opening = openTo({ type: "http", url }, { signal: stop.signal });
  const reason = new Error("not needed any more");
  stop.abort(reason);
  await expect(opening).rejects.toBe(reason);
});

test("stdio: the era that is set is the only one that is tried", async () => {
  const { file, pids } = starts();
  const legacy = await openTo(hostile("--starts", file), { era: "legacy", isEraFixed: true });
  expect((await legacy.call("received")) as object[]).toMatchObject([{ method: "initialize" }, {}, {}]);
  expect(pids()).toHaveLength(1);
  const modern = await openTo(hostile("--era", "modern"), { era: "modern", isEraFixed: true });
  expect(modern.link.facts.era).toBe("modern");
  expect(await fault(openTo(hostile("--era", "modern"), { era: "legacy", isEraFixed: true }))).toMatch(
    /^bad_server_answer/,
  );
  expect(await fault(openTo(hostile("--discover", "error"), { era: "modern", isEraFixed: true }))).toMatch(
    /it does not speak MCP 2026-07-28/,
  );
});
