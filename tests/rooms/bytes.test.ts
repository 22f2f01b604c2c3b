// What a participant writes is what the others read, to the byte.
import { afterAll, describe, expect, test } from "vitest";
import { enter } from "../support/enter.ts";
import type { TestClient } from "../support/test-client.ts";
import { startTestServer } from "../support/test-server.ts";

const server = await startTestServer();
afterAll(() => server.stop());

/** The text of the envelope with this id, as it came. */
async function textOf(client: TestClient, id: string): Promise<string> {
  await client.find((message) => message.id === id);
  return client.texts.find((text) => JSON.parse(text).id === id) ?? "";
}

async function scene(topic: string) {
  const reader = await enter(server, "reader", { topic });
  const writer = await enter(server, "writer", { topic });
  return { reader, writer };
}

async function storedText(topic: string): Promise<string> {
  const token = await server.token({ sub: "reader", topics: [topic] });
  const response = await fetch(`${server.url}/v0/topics/${topic}/history`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return response.text();
}

describe("[X0-7-3] [X0-4.1-1] a payload is relayed and kept byte by byte:", () => {
  const params: [string, string][] = [
    [
      "numbers that are not JavaScript's",
      '{"a":1.0,"b":1e400,"c":9007199254740993,"d":-0,"e":1E+2,"f":0.10}',
    ],
    ["escapes, needed or not", '{"a":"\\u0041\\/\\ud83d\\ude00é\\n","\\u0062":"\\"\\\\"}'],
    ["the order of keys, also of those that look like numbers", '{"z":1,"10":2,"a":3,"2":4}'],
    ["spaces and line ends", '{ "a" :\t[ 1 , 2 ]\r\n, "b":{ } }'],
    ["a key given twice, deeper down", '{"deep":{"a":1,"a":2},"list":[{"b":1,"b":{}}]}'],
    ["empty names and lone surrogates", '{"":"\\ud800","__proto__":{"x":1}}'],
  ];

  test.each(params)("%s", async (name, text) => {
    const topic = `room:bytes-${name.length}`;
    const { reader, writer } = await scene(topic);
    const payload = `{ "jsonrpc":"2.0","id": 1.0 ,"method":"tools/call","params":${text}}`;
    writer.ws.send(
      `{"protocol":"mcpx/v0.1","id":"x","ts":"2026-01-01T00:00:00Z","from":"writer","to":["reader"],"kind":"mcp","payload":${payload}}`,
    );
    expect(await writer.outcome("x")).toBe("ack");
    expect(await textOf(reader, "x")).toContain(`"payload":${payload}`);
    expect(await storedText(topic)).toContain(`"payload":${payload}`);
    const late = await enter(server, "late", { topic, query: { history: "1" } });
    expect(late.texts[0]).toContain(`"payload":${payload}`);
  });

  test("in chat a key may stand twice at the top too; in a proposal it may not, for readers would disagree", async () => {
    const { reader, writer } = await scene("room:twice");
    const send = (kind: string, payload: string) =>
      writer.ws.send(`{"protocol":"mcpx/v0.1","id":"${kind}","kind":"${kind}","payload":${payload}}`);
    send("chat", '{"text":"a","text":"b"}');
    expect(await textOf(reader, "chat")).toContain('"payload":{"text":"a","text":"b"}');
    send("mcp/proposal", '{"method":"m","params":{},"params":{"a":1}}');
    expect(await writer.outcome("mcp/proposal")).toBe("duplicate_key");
  });
});

describe("[X0-4-2] an envelope", () => {
  test("with every field is relayed as it was written, extra fields and white space included", async () => {
    const { reader, writer } = await scene("room:whole");
    const text =
      '{ "x-trace" : {"n":1.50}, "payload": {"text":"hi"},\n"kind":"chat","to":[],"from":"writer","ts":"2026-01-01T00:00:00.000001+05:30","id":"w","protocol":"mcpx/v0.1" }';
    writer.ws.send(`\n ${text} \r\n`);
    expect(await textOf(reader, "w")).toBe(text);
  });

  test("without ts and from gets them at its end, and nothing else changes", async () => {
    const { reader, writer } = await scene("room:filled");
    const text = '{"protocol":"mcpx/v0.1","id":"f","kind":"chat","payload":{"text":"hi"}}';
    writer.ws.send(text);
    const seen = await textOf(reader, "f");
    expect(seen).toMatch(/,"ts":"[^"]+Z","from":"writer"\}$/);
    expect(seen.startsWith(text.slice(0, -1))).toBe(true);
    expect(Math.abs(Date.parse(JSON.parse(seen).ts) - Date.now())).toBeLessThan(60_000);
  });

  test("[PL-1-2] with correlationId gets the canonical field and keeps its own", async () => {
    const { reader, writer } = await scene("room:correlation");
    const send = (id: string, fields: object) =>
      writer.outcome(
        writer.send({ id, kind: "mcpx.status.proposal", payload: { status: "queued" }, ...fields }),
      );
    expect(await send("old", { correlationId: "p-1" })).toBe("ack");
    expect(await reader.find(({ id }) => id === "old")).toMatchObject({
      correlationId: "p-1",
      correlation_id: "p-1",
    });
    expect(await send("both", { correlationId: "p-1", correlation_id: "p-1" })).toBe("ack");
    expect(await send("differing", { correlationId: "p-1", correlation_id: "p-2" })).toBe("bad_field");
  });

  test("[X0-4-3] sent again in the other spelling of its correlation is the same envelope", async () => {
    const { writer } = await scene("room:spelling");
    const envelope = { id: "s", kind: "chat", payload: { text: "hi" } };
    expect(await writer.outcome(writer.send({ ...envelope, correlation_id: "c" }))).toBe("ack");
    expect(await writer.outcome(writer.send({ ...envelope, correlationId: "c" }))).toBe("ack");
  });
});

test("[X0-4.1-5] a refused request's id comes back as it was written", async () => {
  const { writer } = await scene("room:ids");
  for (const id of ["7", '"7"', "1.0", "9007199254740993", '"\\u0041"', "-0"]) {
    writer.ws.send(
      `{"protocol":"mcpx/v0.1","id":"r","kind":"mcp","payload":{"jsonrpc":"2.0","id":${id},"method":"m"}}`,
    );
    expect(await writer.outcome("r")).toBe("request_needs_one_target");
    expect(writer.texts.at(-1)).toContain(`"payload":{"jsonrpc":"2.0","id":${id},"error":`);
  }
});
