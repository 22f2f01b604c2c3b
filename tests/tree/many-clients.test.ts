// Many clients at once, all with the same ids: nobody gets what is another's, neither answers nor questions.
import { afterAll, beforeAll, expect, test } from "vitest";
import { fixtureCommand, type RunningFixture, startFixture } from "../conformance/start-fixture.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";
import { ask, callTool, type Heard, type Message, openSession, type Place, textOf } from "./support/ask.ts";
import { type HttpBackends, startHttpBackends, stdioBackend } from "./support/backends.ts";
import { connectSdk, type Kind } from "./support/sdk-callers.ts";

let server: TestServer;
let raw: HttpBackends;
let fixture: RunningFixture;

beforeAll(async () => {
  raw = await startHttpBackends({ era: "modern" });
  fixture = await startFixture("legacy");
  const [command, ...args] = fixtureCommand("stdio", "legacy");
  server = await startTestServer({
    config: {
      mcpServers: {
        child: stdioBackend(),
        "modern-child": stdioBackend({ era: "modern" }),
        remote: { url: raw.urlOf("none") },
        "asking-child": { command, args },
        "asking-remote": { url: fixture.url },
      },
    },
  });
});

afterAll(async () => {
  await server.stop();
  await raw.stop();
  await fixture.stop();
});

async function enter(sub: string): Promise<Place> {
  return { url: `${server.url}/mcp`, token: await server.token({ sub, topics: [], tools: ["**"] }) };
}

const got = ({ message }: Heard): Message => message.result?.structuredContent?.got?.arguments;

test("fifty clients with the ids 0, 1, 2 … each get their own answers", async () => {
  const clients = await Promise.all(Array.from({ length: 50 }, (_, n) => enter(`client-${n}`)));
  const tools = ["child.echo", "modern-child.echo", "remote.echo"];
  const wrong: string[] = [];
  const use = async (place: Place, n: number) => {
    const isLegacy = n % 2 === 0;
    const session = isLegacy ? await openSession(place) : undefined;
    const calls = Array.from({ length: 24 }, async (_, id) => {
      const name = tools[(n + id) % tools.length] ?? "";
      const mine = { client: n, call: id, text: `${n}/${id}` };
      const heard = session
        ? await session.request("tools/call", { name, arguments: mine }, id)
        : await callTool(place, name, mine, { id });
      const isRight = heard.message.id === id && JSON.stringify(got(heard)) === JSON.stringify(mine);
      if (!isRight) wrong.push(`${n} ${id}: ${JSON.stringify(heard.message).slice(0, 300)}`);
    });
    await Promise.all(calls);
  };
  await Promise.all(clients.map(use));
  expect(wrong).toEqual([]);
});

test("two sessions with one id in flight at the same child cancel only their own", async () => {
  const [one, other] = await Promise.all([
    openSession(await enter("one")),
    openSession(await enter("other")),
  ]);
  const cancel = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}';
  const wait = { name: "child.wait", arguments: {} };
  let isOver = false;
  const waiting = one.request("tools/call", wait, 7).finally(() => {
    isOver = true;
  });
  const cancelled = other.request("tools/call", wait, 7);
  await other.send(cancel);
  expect((await cancelled).texts).toEqual([]);
  const later = other.request("tools/call", { name: "child.echo", arguments: { later: 1 } }, 8);
  expect(got(await later)).toEqual({ later: 1 });
  expect(isOver).toBe(false);
  await one.send(cancel);
  expect((await waiting).texts).toEqual([]);
});

test.for<[string, Kind, Kind]>([
  ["asking-child", "v1", "v2 legacy"],
  ["asking-remote", "v1", "v2 legacy"],
  ["asking-child", "v2 legacy", "v2 modern"],
  ["asking-remote", "v2 modern", "v2 modern"],
])(
  "[B-TREE-2] a question of %s reaches only the client whose call it is: %s and %s",
  async ([segment, first, second]) => {
    const [ada, bob] = await Promise.all([
      connectSdk(first, await enter("ada"), "Ada"),
      connectSdk(second, await enter("bob"), "Bob"),
    ]);
    const answers = await Promise.all(
      Array.from({ length: 5 }, () =>
        Promise.all(
          [ada, bob].map((caller) => caller.call(`${segment}.test_elicitation`, { message: "Who are you?" })),
        ),
      ),
    );
    for (const [ofAda, ofBob] of answers) {
      expect(ofAda).toContain('"username":"Ada"');
      expect(ofBob).toContain('"username":"Bob"');
    }
    const asked = (heard: string[]) => heard.filter((what) => what === "asked elicitation/create").length;
    expect([asked(ada.heard), asked(bob.heard)]).toEqual([5, 5]);
    await Promise.all([ada.close(), bob.close()]);
  },
);

test.for(["asking-child", "asking-remote"])(
  "[B-TREE-2] questions of calls one modern client has under way at %s stay with their calls",
  async (segment) => {
    const place = await enter("modern");
    const capabilities = { elicitation: {} };
    const one = async (n: number) => {
      const params = { name: `${segment}.test_elicitation`, arguments: { message: `question ${n}` } };
      const { message } = await ask(place, "tools/call", params, { id: n, capabilities });
      const [[key, question]] = Object.entries(message.result.inputRequests) as [[string, Message]];
      expect(question.params.message).toBe(`question ${n}`);
      const inputResponses = { [key]: { action: "accept", content: { username: `user ${n}`, email: "e" } } };
      const { requestState } = message.result;
      return textOf(
        await ask(place, "tools/call", { ...params, inputResponses, requestState }, { capabilities }),
      );
    };
    const said = await Promise.all([0, 1, 2, 3, 4, 5].map(one));
    said.forEach((text, n) => void expect(text).toContain(`"username":"user ${n}"`));
  },
);

test("an answer to another session's question is nobody's", async () => {
  const [ada, eve] = await Promise.all([enter("ada"), enter("eve")]);
  const session = await openSession(ada, { elicitation: {} });
  const thief = await openSession(eve, { elicitation: {} });
  const response = await fetch(ada.url, {
    method: "POST",
    headers: {
      authorization: `Bearer ${ada.token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-session-id": session.id,
      "mcp-protocol-version": "2025-11-25",
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "asking-child.test_elicitation", arguments: { message: "Who?" } },
    }),
  });
  let text = "";
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const read = async () => {
    const { value = "", done } = (await reader?.read()) ?? { done: true };
    text += value;
    return done;
  };
  while (!text.includes("elicitation/create")) await read();
  const question = JSON.parse(/data: (\{.*elicitation\/create.*\})/.exec(text)?.[1] ?? "");
  const answer = (username: string) =>
    JSON.stringify({
      jsonrpc: "2.0",
      id: question.id,
      result: { action: "accept", content: { username, email: "e" } },
    });
  await thief.send(answer("Eve"));
  await session.send(answer("Ada"));
  while (!(await read()));
  expect(text).toContain('\\"username\\":\\"Ada\\"');
  expect(text).not.toContain("Eve");
});

test("a client that cannot be asked is told so, and nobody else is asked instead", async () => {
  const ada = await connectSdk("v2 legacy", await enter("ada"), "Ada");
  const mute = await openSession(await enter("mute"));
  const { message } = await mute.request("tools/call", {
    name: "asking-child.test_elicitation",
    arguments: { message: "?" },
  });
  expect(JSON.stringify(message)).toMatch(/elicitation/i);
  expect(message.result?.isError ?? message.error !== undefined).toBe(true);
  expect(ada.heard).toEqual([]);
  await ada.close();
});
