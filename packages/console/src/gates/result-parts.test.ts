import { expect, test } from "vitest";
import { messageOf, otherTypesOf, restOf, textsOf } from "./result-parts.ts";

const text = { type: "text", text: "done" };

test("a plain text is told by itself, and nothing is left", () => {
  const answer = { result: { content: [text, text] } };
  expect(textsOf(answer)).toEqual(["done", "done"]);
  expect(restOf(answer)).toBeUndefined();
});

test.each([
  [{ type: "text", text: { hidden: 1 } }],
  [{ type: "text", data: { hidden: 1 } }],
  [{ type: "text" }],
  ["bare"],
  [null],
  [{ type: "image", data: "x" }],
])("%j is no text, and is shown as it is", (part) => {
  const answer = { result: { content: [text, part] } };
  expect(textsOf(answer)).toEqual(["done"]);
  expect(restOf(answer)).toEqual({ content: [part] });
});

test("a text with something beside it is told, and shown with it", () => {
  const part = { ...text, annotations: { audience: ["user"] } };
  expect(textsOf({ result: { content: [part] } })).toEqual(["done"]);
  expect(restOf({ result: { content: [part] } })).toEqual({ content: [part] });
});

test("a message that is no text is not left out, nor is anything that stands beside it", () => {
  expect(messageOf({ error: { code: 1, message: "no" } })).toBe("no");
  expect(restOf({ error: { code: 1, message: "no" } })).toEqual({ code: 1 });
  const odd = { code: 1, message: { hidden: 1 } };
  expect(messageOf({ error: odd })).toBeUndefined();
  expect(restOf({ error: odd })).toEqual(odd);
  // Neither hides members of the other.
  const both = { result: { code: 1 }, error: { code: 2, message: "no" } };
  expect(restOf(both)).toEqual(both);
});

test("content that is no list is shown as it is", () => {
  expect(restOf({ result: { content: "bare", structuredContent: { a: 1 } } })).toEqual({
    content: "bare",
    structuredContent: { a: 1 },
  });
});

test("what is no text is named by its type", () => {
  const content = [text, { type: "image" }, { type: { odd: 1 } }, { type: "text", text: 7 }];
  expect(otherTypesOf({ result: { content } })).toEqual(["image", "unknown", "text"]);
});
