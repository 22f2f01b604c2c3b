import { expect, test } from "vitest";
import { resultLines, shortened } from "./call-text.ts";

test("text is shown line by line, other content by what it is", () => {
  const content = [
    { type: "text", text: "one\ntwo \u001b[2J" },
    { type: "image", mimeType: "image/png", data: "AAAA" },
    { type: "resource_link", uri: "note://x\u0007" },
    { type: "resource", resource: { uri: "note://y" } },
  ];
  expect(resultLines({ content })).toEqual([
    "one",
    "two \\u001b[2J",
    "[image, image/png, 3 bytes]",
    "[resource_link, note://x\\u0007]",
    "[resource, note://y]",
  ]);
});

test("a result without content is its JSON", () => {
  expect(resultLines({ content: [], structuredContent: { a: 1 } })).toEqual(['{"a":1}']);
  expect(resultLines({ tools: 1 })).toEqual(['{"tools":1}']);
});

test("a flood is cut by lines and by characters", () => {
  expect(shortened(["a", "b", "c"], 2, 100)).toEqual(["a", "b", "… and 1 more lines"]);
  expect(shortened(["aaaaaa", "b"], 9, 4)).toEqual(["aaa…", "… and 1 more lines"]);
  expect(shortened(["a", "b"], 2, 100)).toEqual(["a", "b"]);
});
