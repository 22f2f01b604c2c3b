import { describe, expect, test } from "vitest";
import type { Entry } from "../topic-log/topic-log.ts";
import { renderEntry, type Variant, withSeq } from "./render.ts";

const at = Date.UTC(2030, 0, 1, 12);

function entryOf(text: string): Entry {
  return { topic: "room", id: "e", from: "alice", at, text, seq: 7 };
}

const plain: Variant = { protocol: "mcpx/v0.1", wantsSeq: false };
const old: Variant = { protocol: "mcp-x/v0", wantsSeq: false };

const chat =
  '{"protocol":"mcpx/v0.1","id":"e","kind":"chat","payload":{"text":"hi"},"ts":"2030-01-01T00:00:00Z","from":"alice"}';
const v0Chat =
  '{"protocol":"mcp-x/v0","id":"e","kind":"mcp","payload":{"jsonrpc":"2.0","method":"notifications/chat/message","params":{"text":"hi"}},"ts":"2030-01-01T00:00:00Z","from":"alice"}';

describe("[X0-8.1-2] chat is rendered for the other protocol only, and marked:", () => {
  test.each([
    ["new to new", chat, plain, chat],
    ["old to old", v0Chat, old, v0Chat],
    ["new to old", chat, old, `${v0Chat.slice(0, -1)},"derived":"mcpx/v0.1"}`],
    ["old to new", v0Chat, plain, `${chat.slice(0, -1)},"derived":"mcp-x/v0"}`],
  ])("%s", (_name, text, variant, expected) => {
    expect(renderEntry(entryOf(text), variant)).toBe(expected);
  });
});

test.each([
  '{"protocol":"mcpx/v0.1","id":"e","kind":"mcp/proposal","payload":{"method":"chat","params":{}}}',
  '{"protocol":"mcpx/v0.1","id":"e","kind":"mcp","payload":{"jsonrpc":"2.0","method":"notifications/chat/message"}}',
  '{"protocol":"mcp-x/v0","id":"e","kind":"mcp","payload":{"jsonrpc":"2.0","id":1,"method":"notifications/chat/message"}}',
  '{"protocol":"mcpx/v0.1","id":"e","kind":"mcp","payload":{"jsonrpc":"2.0","method":"x","params":{"kind":"\\u0063hat"}}}',
])("[X0-7-3] everything else is the sender's own bytes, for everybody: %s", (text) => {
  for (const variant of [plain, old]) expect(renderEntry(entryOf(text), variant)).toBe(text);
});

test("[X0-4-8] seq and at stand at the end, also behind what was derived", () => {
  const numbers = '"seq":7,"at":"2030-01-01T12:00:00.000Z"}';
  expect(withSeq(chat, entryOf(chat))).toBe(`${chat.slice(0, -1)},${numbers}`);
  const text = renderEntry(entryOf(chat), { protocol: "mcp-x/v0", wantsSeq: true });
  expect(text.endsWith(`,"derived":"mcpx/v0.1",${numbers}`)).toBe(true);
});

test("what was let in under wider limits than today's is still rendered", () => {
  const deep = `${"[".repeat(200)}${"]".repeat(200)}`;
  const text = `{"protocol":"mcpx/v0.1","id":"${"e".repeat(500)}","kind":"chat","payload":{"text":"hi","x":${deep}}}`;
  expect(renderEntry(entryOf(text), old)).toContain(`"params":{"text":"hi","x":${deep}}`);
});

test("one entry that cannot be read does not stop the others: it is given as it is", () => {
  expect(renderEntry(entryOf('{"chat":'), old)).toBe('{"chat":');
});
