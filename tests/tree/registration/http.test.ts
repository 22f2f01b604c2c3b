// `/ax` over HTTP, by a registrant made of nothing but `fetch`: the stream carries the requests, answers are POSTed.
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../support/test-server.ts";
import { ask, callTool, type Place, textOf } from "../support/ask.ts";
import { type Message, toolOf } from "./support/raw-registrant.ts";
import { type StreamedRegistrant, streamedRegistrant } from "./support/streamed-registrant.ts";

let server: TestServer;
let place: Place;

beforeAll(async () => {
  server = await startTestServer({ config: { degraded: { grace: 60_000 } } });
  place = {
    url: `${server.url}/mcp`,
    token: await server.token({ sub: "alice", topics: [], tools: ["**"] }),
  };
});

afterAll(() => server.stop());

const named = async (prefix: string): Promise<string[]> => {
  const { message } = await ask(place, "tools/list");
  return message.result.tools
    .map(({ name }: Message) => name)
    .filter((name: string) => name.startsWith(prefix));
};

async function come(segment: string, tools: object[]): Promise<StreamedRegistrant> {
  const token = await server.token({ sub: `of:${segment}`, topics: [], segment, scope: "write" } as never);
  return streamedRegistrant(server.url, token, segment, tools);
}

test("[AX-6.1-3] a registrant over HTTP is called by its stream and answers by POST", async () => {
  const edge = await come("edge", [toolOf("t")]);
  const { result } = await edge.answer;
  expect(result).toMatchObject({ status: "registered", session_id: edge.session });
  await expect.poll(() => named("edge.")).toEqual(["edge.t"]);
  expect(textOf(await callTool(place, "edge.t", { over: "http" }))).toBe('{"over":"http"}');
  const beat = await edge.post(
    { id: 1, method: "mcpax/heartbeat", params: { session_id: edge.session } },
    edge.session,
  );
  expect(await beat.json()).toMatchObject({ id: 1, result: { status: "alive" } });
});

test("[AX-6.3-3] [AX-10.1-1] a session is of use only to whoever opened it", async () => {
  const owner = await come("owner", [toolOf("t")]);
  await owner.answer;
  const stranger = await server.token({ sub: "stranger", topics: [], segment: "other" } as never);
  const leave = { id: 1, method: "mcpax/deregister", params: { session_id: owner.session } };
  const refused = await owner.post(leave, owner.session, stranger);
  expect([refused.status, ((await refused.json()) as Message).error.reason]).toEqual([
    404,
    "registration_unknown",
  ]);
  await expect.poll(() => named("owner.")).toEqual(["owner.t"]);
  expect(await (await owner.post(leave, owner.session)).json()).toMatchObject({
    result: { status: "deregistered" },
  });
  expect(await named("owner.")).toEqual([]);
});

test("[AX-13.1-1] a stream that breaks is a lost connection", async () => {
  const lost = await come("lost", [toolOf("t")]);
  await lost.answer;
  await expect.poll(() => named("lost.")).toEqual(["lost.t"]);
  lost.cut();
  await expect
    .poll(async () => (await callTool(place, "lost.t")).message.error?.message)
    .toBe("tool_degraded");
});

test("[AX-6.1-3] what is no registration is refused", async () => {
  const token = await server.token({ sub: "x", topics: [] });
  const say = (body: string, headers: Record<string, string> = {}) =>
    fetch(`${server.url}/ax`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
      body,
    });
  const first = await say(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "mcpax/heartbeat", params: {} }));
  expect([first.status, ((await first.json()) as Message).error.reason]).toEqual([400, "bad_request"]);
  expect((await say("{")).status).toBe(400);
  expect((await say("[]")).status).toBe(400);
  const unknown = await say("{}", { "mcpax-session": "00000000-0000-4000-8000-000000000000" });
  expect(unknown.status).toBe(404);
});
