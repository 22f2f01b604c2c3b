import { parseExact } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { checkDepth, errorMessage, idOf, keyOf, readMessage } from "./message.ts";

test("requests, notifications and responses are told apart", () => {
  expect(readMessage({ jsonrpc: "2.0", id: 1, method: "ping" })).toEqual({
    kind: "request",
    id: 1,
    method: "ping",
    params: {},
  });
  expect(readMessage({ jsonrpc: "2.0", method: "a", params: { b: 1 } })).toMatchObject({
    kind: "notification",
    params: { b: 1 },
  });
  expect(readMessage({ jsonrpc: "2.0", id: "x", result: {} })).toMatchObject({
    kind: "response",
    result: {},
  });
  const failed = { jsonrpc: "2.0", id: null, error: { code: -1, message: "no", data: 7, more: 1 } };
  expect(readMessage(failed)).toMatchObject({ id: null, fault: { code: -1, message: "no", data: 7 } });
});

test("numbers JavaScript cannot hold are ids too, and stay as they were", () => {
  const message = readMessage(parseExact('{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}'));
  if (message.kind !== "request") throw new Error("not a request");
  expect(keyOf(message.id)).toBe("9007199254740993");
  expect(JSON.stringify(errorMessage(message.id, { code: 1, message: "" }))).toContain(
    '"id":9007199254740993',
  );
});

test("one id has one key", () => {
  expect(keyOf(1)).not.toBe(keyOf("1"));
  expect(keyOf("a")).toBe(keyOf("a"));
});

test("an error carries the id of what seems to be a request, and no other", () => {
  expect(idOf({ id: 7, method: "x" })).toBe(7);
  for (const value of [{ id: 7 }, { id: 7, result: {} }, { id: {}, method: "x" }, [], null, 7, "x"]) {
    expect(idOf(value)).toBeNull();
  }
});

test("depth is counted over lists and objects", () => {
  expect(() => checkDepth({ a: [{ b: 1 }] }, 3)).not.toThrow();
  expect(() => checkDepth({ a: [{ b: [] }] }, 3)).toThrow(expect.objectContaining({ code: "too_deep" }));
});
