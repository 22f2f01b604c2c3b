// Old and new clients in one room: which version a connection speaks, and chat in the form of each.
import { afterAll, describe, expect, test } from "vitest";
import { enter, positionOf, refusedOnConnect } from "../support/enter.ts";
import { TestClient } from "../support/test-client.ts";
import { startTestServer } from "../support/test-server.ts";

const server = await startTestServer();
afterAll(() => server.stop());

const v0 = { protocol: "mcp-x/v0" };

async function textOf(client: TestClient, id: string): Promise<string> {
  await client.find((message) => message.id === id);
  return client.texts.find((text) => JSON.parse(text).id === id) ?? "";
}

async function storedText(topic: string): Promise<string> {
  const authorization = `Bearer ${await server.token({ sub: "reader", topics: [topic] })}`;
  return (await fetch(`${server.url}/v0/topics/${topic}/history`, { headers: { authorization } })).text();
}

async function scene(topic: string) {
  const [young, old, sender] = await Promise.all([
    enter(server, "young", { topic }),
    enter(server, "old", { topic, query: v0 }),
    enter(server, "sender", { topic, level: "restricted" }),
  ]);
  return { young, old, sender };
}

describe("[X0-8.1-1] [X0-8.1-2] chat is rendered for the other version, byte by byte:", () => {
  const body = '{ "text":"caf\\u00e9 \\/ 1.0","format":"plain","n":1.0,"d":{"a":1,"a":2} }';

  test.each(['"chat"', '"ch\\u0061t"', '"\\u0063\\u0068\\u0061\\u0074"'])(
    "kind %s becomes v0's notification",
    async (kind) => {
      const topic = `room:new-${kind.length}`;
      const { young, old, sender } = await scene(topic);
      const text = `{"protocol":"mcpx\\/v0.1","id":"c","ts":"2026-01-01T00:00:00Z","from":"sender","x":[1.50],"kind":${kind},"payload":${body}}`;
      sender.ws.send(text);
      expect(await textOf(young, "c")).toBe(text);
      expect(await textOf(old, "c")).toBe(
        `{"protocol":"mcp-x/v0","id":"c","ts":"2026-01-01T00:00:00Z","from":"sender","x":[1.50],"kind":"mcp","payload":{"jsonrpc":"2.0","method":"notifications/chat/message","params":${body}},"derived":"mcpx/v0.1"}`,
      );
      expect(await storedText(topic)).toContain(text.slice(0, -1));
      expect(await storedText(topic)).not.toContain("derived");
    },
  );

  test.each(['"notifications/chat/message"', '"notifications\\/ch\\u0061t\\/message"'])(
    "v0's notification %s becomes chat, also from a restricted sender",
    async (method) => {
      const topic = `room:old-${method.length}`;
      const { young, old, sender } = await scene(topic);
      const text = `{"protocol":"mcp-x\\/v0","id":"c","ts":"2026-01-01T00:00:00Z","from":"sender","kind":"m\\u0063p","payload":{"jsonrpc":"2.0","method":${method},"params":${body}}}`;
      sender.ws.send(text);
      expect(await sender.outcome("c")).toBe("ack");
      expect(await textOf(old, "c")).toBe(text);
      expect(await textOf(young, "c")).toBe(
        `{"protocol":"mcpx/v0.1","id":"c","ts":"2026-01-01T00:00:00Z","from":"sender","kind":"chat","payload":${body},"derived":"mcp-x/v0"}`,
      );
      expect(await storedText(topic)).toContain(text.slice(0, -1));
    },
  );

  test("also in a welcome's history, in a resume, and with seq", async () => {
    const topic = "room:later";
    const { sender } = await scene(topic);
    await sender.ack(sender.say("hi", { id: "c" }));
    const late = await enter(server, "late", { topic, query: { ...v0, history: "1" } });
    expect(late.welcome.payload.history.envelopes).toMatchObject([
      { ...v0, kind: "mcp", derived: "mcpx/v0.1", seq: 1, payload: { params: { text: "hi" } } },
    ]);
    const query = { ...v0, seq: "1", resume: positionOf(sender, 0) };
    const back = await enter(server, "late", { topic, query });
    expect(await back.find(({ id }) => id === "c")).toMatchObject({
      ...v0,
      seq: 1,
      derived: "mcpx/v0.1",
      at: expect.any(String),
    });
  });

  test("what only looks like chat to a careless reader is not let through as chat", async () => {
    const { sender } = await scene("room:looks");
    const send = (id: string, payload: string) => {
      sender.ws.send(`{"protocol":"mcp-x/v0","id":"${id}","kind":"mcp","payload":${payload}}`);
      return sender.outcome(id);
    };
    const chat = '"method":"notifications/chat/message","params":{"text":"hi"}';
    expect(await send("1", `{"jsonrpc":"2.0",${chat},"method":"tools/call"}`)).toBe("privilege_violation");
    expect(await send("2", `{"jsonrpc":"2.0","method":"tools/call",${chat}}`)).toBe("privilege_violation");
    expect(await send("3", `{"jsonrpc":"2.0",${chat},"id":1}`)).toBe("privilege_violation");
    expect(await send("4", `{"jsonrpc":"2.0",${chat},"Id":1}`)).toBe("bad_json_rpc");
  });
});

describe("[X0-10-1] [X0-10-2] [X1-6.3-1] a connection's version", () => {
  const connect = async (query: object, protocols: string[] = []) => {
    const token = await server.token({ sub: "anyone", topics: ["**"], level: "full" });
    const headers = protocols.length === 0 ? {} : { "sec-websocket-protocol": protocols.join(", ") };
    return { token, headers, query: { topic: "room:versions", ...query } };
  };
  const welcomed = async (query: object, protocols: string[] = []) => {
    const { token, ...rest } = await connect(query);
    const client = await TestClient.connect(server.url, token, rest.query, {}, protocols);
    const welcome = await client.event("welcome");
    expect(welcome.protocol).toBe(welcome.payload.protocol);
    return { client, protocol: welcome.protocol, subprotocol: client.ws.protocol };
  };

  test("is the parameter's, else the subprotocol's, else the newest", async () => {
    expect(await welcomed({})).toMatchObject({ protocol: "mcpx/v0.1", subprotocol: "" });
    expect(await welcomed(v0)).toMatchObject(v0);
    expect(await welcomed({}, ["mcp-x.v0"])).toMatchObject({ ...v0, subprotocol: "mcp-x.v0" });
    expect(await welcomed({}, ["chat", "mcpx.v0.1"])).toMatchObject({
      protocol: "mcpx/v0.1",
      subprotocol: "mcpx.v0.1",
    });
    expect(await welcomed(v0, ["mcpx.v0.1", "mcp-x.v0"])).toMatchObject({ ...v0, subprotocol: "mcp-x.v0" });
  });

  test("that is not spoken here is a 400 that names those that are", async () => {
    for (const [query, protocols] of [
      [{ protocol: "mcpx/v9" }, []],
      [{ protocol: "" }, []],
      [{}, ["graphql-ws"]],
    ] as const) {
      const { token, headers, query: all } = await connect(query, [...protocols]);
      const refusal = await refusedOnConnect(server, token, all, headers);
      expect(refusal.message).toBe("400 unsupported_protocol");
      expect(refusal.error.message).toContain("mcpx/v0.1, mcp-x/v0");
    }
  });

  test("is fixed by the first envelope where nothing was said; an unknown one there is closed with 4406", async () => {
    const { client } = await welcomed({});
    const first = client.send({ ...v0, kind: "chat", payload: { text: "hi" } });
    expect((await client.answer(first)).protocol).toBe("mcp-x/v0");
    // From then on an envelope may differ: it is relayed, and the connection stays what it is.
    expect((await client.answer(client.say("new form"))).protocol).toBe("mcp-x/v0");
    const odd = client.send({ protocol: "mcpx/v9", kind: "chat", payload: { text: "hi" } });
    expect(await client.outcome(odd)).toBe("unsupported_protocol");
    expect(await client.outcome(client.say("still here"))).toBe("ack");
    await client.leave();
    const { client: stranger } = await welcomed({});
    const id = stranger.send({ protocol: "mcpx/v9", kind: "chat", payload: { text: "hi" } });
    expect(await stranger.outcome(id)).toBe("unsupported_protocol");
    expect((await stranger.closing()).code).toBe(4406);
  });
});
