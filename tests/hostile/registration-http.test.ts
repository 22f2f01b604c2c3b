// `/ax` over HTTP, by those who should not: others' sessions, bodies that are none, streams nobody reads.
import { connect } from "node:net";
import { afterAll, expect, test } from "vitest";
import { type Message, registrationOf, toolOf } from "../tree/registration/support/raw-registrant.ts";
import { callTool } from "../tree/support/ask.ts";
import { startTreeOracle } from "./tree-oracle.ts";

const scene = await startTreeOracle();
afterAll(() => scene.stop());
const { server } = scene.oracle;
const stop = new AbortController();
afterAll(() => stop.abort());

interface Streamed {
  session: string;
  token: string;
  /** Messages of the stream as they come. */
  next(): Promise<Message>;
}

function post(
  body: string,
  token: string | undefined,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${server.url}/ax`, {
    method: "POST",
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      "content-type": "application/json",
      ...headers,
    },
    body,
    signal: stop.signal,
  });
}

const text = (message: object) => JSON.stringify({ jsonrpc: "2.0", ...message });

async function open(segment: string): Promise<Streamed> {
  const token = await scene.oracle.token({ topics: [], segment, scope: "write" } as never);
  const first = text({ id: "r", method: "mcpax/register", params: registrationOf(segment) });
  const response = await post(first, token);
  const session = response.headers.get("mcpax-session") ?? "";
  const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  async function next(): Promise<Message> {
    for (;;) {
      const end = rest.indexOf("\n\n");
      if (end < 0) rest += (await reader.read()).value ?? "";
      else {
        const data = /^data: (.+)$/m.exec(rest.slice(0, end))?.[1];
        rest = rest.slice(end + 2);
        if (data !== undefined) return JSON.parse(data);
      }
    }
  }
  return { session, token, next };
} // biome-ignore format: one line each

/** Goes on until its tools have been listed. */
async function serve({ next, token, session }: Streamed): Promise<void> {
  const discovered = { supportedVersions: ["2026-07-28"], capabilities: { tools: {} } };
  const results: Record<string, object> = {
    "mcpax/parent": { parent_id: null },
    "server/discover": { resultType: "complete", ...discovered },
    "tools/list": { resultType: "complete", tools: [toolOf("t")] },
  };
  for (;;) {
    const { id, method } = await next();
    const result = results[method];
    if (result !== undefined) await post(text({ id, result }), token, { "mcpax-session": session });
    if (method === "tools/list") return;
  }
}

const victim = await open("victim");
await serve(victim);
const beat = text({ id: 1, method: "mcpax/heartbeat", params: { session_id: victim.session } });
const leave = text({ id: 1, method: "mcpax/deregister", params: { session_id: victim.session } });
const register = text({ id: 1, method: "mcpax/register", params: registrationOf("evil") });

async function outcome(response: Response): Promise<string> {
  const body = await response.text();
  const { error } = body.startsWith("{") ? JSON.parse(body) : {};
  const reason = error?.reason ?? error?.data?.reason;
  return `${response.status}${reason === undefined ? "" : ` ${reason}`}`;
}

const posts: [title: string, body: string, headers: Record<string, string>, answer: string][] = [
  ["another's heartbeat", beat, { "mcpax-session": victim.session }, "404 registration_unknown"],
  ["another's deregistration", leave, { "mcpax-session": victim.session }, "404 registration_unknown"],
  ["an answer in another's name", text({ id: 1, result: {} }), { "mcpax-session": victim.session }, "404 registration_unknown"],
  ["a notification in another's name", text({ method: "notifications/tools/list_changed" }), { "mcpax-session": victim.session }, "404 registration_unknown"],
  ["the session of a WebSocket", beat, { "mcpax-session": scene.sessionId }, "404 registration_unknown"],
  ["a session of nobody", beat, { "mcpax-session": "00000000-0000-4000-8000-000000000000" }, "404 registration_unknown"],
  ["a session of a prototype", beat, { "mcpax-session": "__proto__" }, "404 registration_unknown"],
  ["two sessions", beat, { "mcpax-session": `${victim.session}, ${victim.session}` }, "404 registration_unknown"],
  ["a heartbeat without a session", beat, {}, "400 bad_request"],
  ["an answer without a session", text({ id: 1, result: {} }), {}, "400 bad_request"],
  ["no JSON", "{", {}, "400 bad_json"],
  ["an array", `[${register}]`, {}, "400 not_an_object"],
  ["a number", "7", {}, "400 not_an_object"],
  ["nothing", "", {}, "400 bad_json"],
  ["5 MB", `"${"x".repeat(5_000_000)}"`, {}, "413 too_large"],
  ["nested 200 deep", `{"x":${"[".repeat(200)}${"]".repeat(200)}}`, {}, "400 too_deep"],
]; // biome-ignore format: a table

test.for(posts)("[AX-6.3-3] [AX-10.1-1] it is refused: %s", async ([, body, headers, answer]) => {
  expect(await outcome(await post(body, await scene.oracle.token({ topics: [] }), headers))).toBe(answer);
  expect(await scene.named("victim")).toEqual(["victim.t"]);
  await scene.check({});
});

test("[AX-10.1-1] without a token nothing is read", async () => {
  for (const headers of [{}, { "mcpax-session": victim.session }]) {
    expect(await outcome(await post(leave, undefined, headers))).toBe("401 unauthorised");
    await scene.check({ denials: ["unauthorised"] });
  }
  expect(await outcome(await post(leave, "nonsense", {}))).toBe("401 unauthorised");
  await scene.check({ denials: ["unauthorised"] });
});

test("control: its owner is answered", async () => {
  expect(await outcome(await post(beat, victim.token, { "mcpax-session": victim.session }))).toBe("200");
  const other = text({ id: 1, method: "mcpax/heartbeat", params: { session_id: scene.sessionId } });
  const answer = await post(other, victim.token, { "mcpax-session": victim.session });
  expect(await outcome(answer)).toBe("200 registration_unknown");
});

test("a stream that is not read ends once too much waits in it", async () => {
  const attacker = await open("deaf");
  await serve(attacker);
  await expect.poll(() => scene.named("deaf")).toEqual(["deaf.t"]);
  const leaving = new AbortController();
  const args = { x: "x".repeat(3_000_000) };
  const calls = Array.from({ length: 16 }, async () => {
    try {
      const { message } = await callTool(scene.place, "deaf.t", args, { signal: leaving.signal });
      return message.error?.message ?? "answered";
    } catch {
      return "left";
    }
  });
  await expect.poll(() => scene.named("deaf"), { timeout: 25_000 }).toEqual([]);
  leaving.abort();
  expect(await Promise.all(calls)).not.toContain("answered");
  await scene.settled();
}, 60_000);

test("200 streams that are cut in the middle of their registration leave nothing behind", async () => {
  const token = await scene.oracle.token({ topics: [] });
  const { port, hostname, host } = new URL(server.url);
  for (let i = 0; i < 200; i += 1) {
    const body = text({ id: 1, method: "mcpax/register", params: registrationOf(`cut-${i}`) });
    const head = `POST /ax HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    const socket = connect(Number(port), hostname);
    socket.on("error", () => {});
    socket.write(head + body.slice(0, i % 2 === 0 ? body.length : i), () => socket.resetAndDestroy());
  }
  await expect
    .poll(async () => {
      const { message } = await callTool(scene.place, "mcpax.status");
      const names = message.result.structuredContent.servers.map(({ name }: Message) => name);
      return names.filter((name: string) => name.startsWith("cut-"));
    })
    .toEqual([]);
  await scene.settled();
});
