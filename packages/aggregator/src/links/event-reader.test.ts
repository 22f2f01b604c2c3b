import { McpxError } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { readEventBytes } from "./event-reader.ts";

function read(text: string, size: number, bytesMax = 10_000) {
  const events: string[][] = [];
  const reader = readEventBytes(bytesMax, (data, type) => events.push([type, data]));
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
  return { reader, events };
}

test.each([1, 2, 3, 7, 1_000])("events are read whole from pieces of %i bytes", (size) => {
  const text =
    'id: 0\ndata: \n\n: comment\nevent: message\ndata: {"ä":1}\n\nevent:endpoint\ndata: a\r\ndata:b\r\n\r\ndata: unfinished';
  expect(read(text, size).events).toEqual([
    ["message", '{"ä":1}'],
    ["endpoint", "a\nb"],
  ]);
});

test("the last id and the delay are those of whole events, also of such without data", () => {
  const { reader, events } = read("id: 7\nretry: 500\ndata: \n\nid: 8\ndata: x", 5);
  expect(events).toEqual([]);
  expect([reader.lastId, reader.retryMs]).toEqual(["7", 500]);
  expect(read("retry: soon\nid: a\0b\n\n", 100).reader).toMatchObject({
    lastId: undefined,
    retryMs: undefined,
  });
});

test("an event past the bound is refused, in one line or in many", () => {
  expect(() => read(`data: ${"x".repeat(200)}\n\n`, 10, 100)).toThrow(McpxError);
  expect(() => read("data: xxxxxxxxxxxxxxxxxxxx\n".repeat(10), 10, 100)).toThrow(/more than 100 bytes/);
});
