import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isMcpxError } from "../errors.ts";
import { jsonRpcShape } from "../json/json-rpc.ts";
import { scan } from "../json/scan.ts";
import { defaultLimits as limits } from "../limits.ts";
import { checkChat, deriveChat, isV0Chat, v0ChatMethod } from "./chat.ts";
import { type Envelope, readEnvelope, relayText } from "./envelope.ts";

function read(text: string): Envelope {
  return readEnvelope(scan(text, limits), limits);
}

const chatOf = (body: string) => `{"protocol":"mcpx/v0.1","id":"e1","kind":"chat","payload":${body}}`;
const v0Of = (payload: string) => `{"protocol":"mcp-x/v0","id":"e1","kind":"mcp","payload":${payload}}`;
const v0ChatOf = (params: string) => v0Of(`{"jsonrpc":"2.0","method":"${v0ChatMethod}","params":${params}}`);

/** Derives as the gateway does: from the relayed text with what it adds behind. */
function derive(text: string) {
  const envelope = read(text);
  return deriveChat(envelope, relayText(envelope, "romeo", "2025-08-17T14:00:00Z"));
}

describe("[X1-4.3-1] a chat body", () => {
  test.each([
    { text: "hi" },
    { text: "" },
    { text: "hi", format: "plain" },
    { text: "*hi*", format: "markdown" },
    { text: "hi", mood: "glad" },
  ])("%j is one", (body) => {
    expect(() => checkChat(body, "payload")).not.toThrow();
  });

  test.each([
    {}, { text: 1 }, { text: null }, { text: ["hi"] }, { Text: "hi" }, { text: "hi", format: "html" },
    { text: "hi", format: "Markdown" }, { text: "hi", format: "" }, { text: "hi", format: null },
    JSON.parse('{"__proto__":{"text":"hi"}}'), "hi", ["hi"], null, undefined, 1,
  ])("%j is none", (body) => {
    let thrown: unknown;
    try {
      checkChat(body, "payload");
    } catch (error) {
      thrown = error;
    }
    expect(isMcpxError(thrown) && thrown.code).toBe("bad_chat");
  }); // biome-ignore format: one line reads best
});

describe("[X0-8.1-1] chat of v0 is a notification", () => {
  test("recognised by protocol, kind, method and the lack of an id", () => {
    expect(isV0Chat(read(v0ChatOf('{"text":"hi"}')))).toBe(true);
  });

  test.each([
    ["in the newer protocol", v0ChatOf('{"text":"hi"}').replace("mcp-x/v0", "mcpx/v0.1")],
    ["as a request", v0Of(`{"jsonrpc":"2.0","id":1,"method":"${v0ChatMethod}","params":{"text":"hi"}}`)],
    [
      "with an id of null",
      v0Of(`{"jsonrpc":"2.0","id":null,"method":"${v0ChatMethod}","params":{"text":"hi"}}`),
    ],
    ["of another kind", v0ChatOf('{"text":"hi"}').replace('"kind":"mcp"', '"kind":"mcp/proposal"')],
    [
      "of a spelled-out kind",
      v0ChatOf('{"text":"hi"}').replace('"kind":"mcp"', `"kind":"mcp/request:${v0ChatMethod}"`),
    ],
    ["of another method", v0ChatOf('{"text":"hi"}').replace("chat/message", "chat/messages")],
    ["of a method in other case", v0ChatOf('{"text":"hi"}').replace("chat/message", "Chat/message")],
    [
      "with a method before its method",
      v0Of(`{"jsonrpc":"2.0","method":"tools/call","method":"${v0ChatMethod}","params":{"text":"hi"}}`),
    ],
    [
      "with two params",
      v0Of(`{"jsonrpc":"2.0","method":"${v0ChatMethod}","params":{"text":"a"},"params":{"text":"b"}}`),
    ],
    ["from a prototype", v0Of(`{"__proto__":{"method":"${v0ChatMethod}","params":{"text":"hi"}}}`)],
  ])("%s it is not chat, and nothing is derived", (_title, text) => {
    expect(isV0Chat(read(text))).toBe(false);
    expect(derive(text)).toBeUndefined();
  });

  test.each(["mcp", "mcp/proposal", "presence", "system", "mcpx.status.proposal"])(
    "nothing is derived from kind %s",
    (kind) => {
      expect(derive(chatOf('{"text":"hi"}').replace('"chat"', `"${kind}"`))).toBeUndefined();
    },
  );

  test("nor from a v0 chat without params", () => {
    expect(derive(v0Of(`{"jsonrpc":"2.0","method":"${v0ChatMethod}"}`))).toBeUndefined();
  });
});

describe("[X0-8.1-2] chat is rendered for the other protocol", () => {
  test("v0.1 for v0: a notification with the body as params", () => {
    const derived = derive(chatOf('{"text":"hi","format":"markdown"}'));
    expect(derived?.audience).toBe("mcp-x/v0");
    const envelope = JSON.parse(derived?.text ?? "");
    expect(envelope).toEqual({
      protocol: "mcp-x/v0",
      id: "e1",
      kind: "mcp",
      payload: { jsonrpc: "2.0", method: v0ChatMethod, params: { text: "hi", format: "markdown" } },
      ts: "2025-08-17T14:00:00Z",
      from: "romeo",
      derived: "mcpx/v0.1",
    });
    expect(jsonRpcShape(envelope.payload)).toBe("notification");
  });

  test("v0 for v0.1: kind chat with the params as body", () => {
    const derived = derive(v0ChatOf('{"text":"hi"}'));
    expect(derived?.audience).toBe("mcpx/v0.1");
    expect(JSON.parse(derived?.text ?? "")).toEqual({
      protocol: "mcpx/v0.1",
      id: "e1",
      kind: "chat",
      payload: { text: "hi" },
      ts: "2025-08-17T14:00:00Z",
      from: "romeo",
      derived: "mcp-x/v0",
    });
  });

  test("kind chat from a v0 sender is rendered for v0 as well", () => {
    const derived = derive(chatOf('{"text":"hi"}').replace("mcpx/v0.1", "mcp-x/v0"));
    expect(derived?.audience).toBe("mcp-x/v0");
    expect(JSON.parse(derived?.text ?? "")).toMatchObject({ kind: "mcp", derived: "mcp-x/v0" });
  });

  test("all other fields, and what the gateway added, stay", () => {
    const text =
      '{ "payload" : {"text":"hi"} ,"trace":{"n":1.0}, "kind":"chat","to":["x"],"id":"e1","protocol":"mcpx/v0.1"}';
    const envelope = read(text);
    const relayed = `${relayText(envelope, "romeo", "T").slice(0, -1)},"seq":7,"at":"T"}`;
    const params = '{"text":"hi"}';
    expect(deriveChat(envelope, relayed)?.text).toBe(
      `{ "payload" : {"jsonrpc":"2.0","method":"${v0ChatMethod}","params":${params}} ,"trace":{"n":1.0}, "kind":"mcp",` +
        '"to":["x"],"id":"e1","protocol":"mcp-x/v0","ts":"T","from":"romeo","seq":7,"at":"T","derived":"mcpx/v0.1"}',
    );
  });

  test("there and back keeps the body's bytes", () => {
    const body = fc.record(
      {
        text: fc.string({ unit: "grapheme" }),
        format: fc.constantFrom("plain", "markdown"),
        extra: fc.jsonValue(),
      },
      { requiredKeys: ["text"] },
    );
    const back = (text: string, mark: string) => text.replace(new RegExp(`,"derived":"${mark}"}$`), "}");
    fc.assert(
      fc.property(body, fc.nat(3), fc.boolean(), (written, indent, startsAsV0) => {
        const bytes = JSON.stringify(written, null, indent);
        const start = startsAsV0 ? v0ChatOf(bytes) : chatOf(bytes);
        const marks = startsAsV0 ? ["mcp-x/v0", "mcpx/v0.1"] : ["mcpx/v0.1", "mcp-x/v0"];
        const there = derive(start)?.text ?? "";
        const again = derive(back(there, marks[0] ?? ""))?.text ?? "";
        const end = read(back(again, marks[1] ?? ""));
        expect(end.scanned.text).toBe(relayText(read(start), "romeo", "2025-08-17T14:00:00Z"));
        const payload = end.payload as Record<string, unknown>;
        // As text, because `toEqual` stumbles over own keys named __proto__.
        const body = JSON.stringify(startsAsV0 ? payload.params : payload);
        expect(body).toBe(JSON.stringify(JSON.parse(bytes)));
      }),
    );
  });
});
