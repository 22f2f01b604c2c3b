import { expect, test } from "vitest";
import { parseLine } from "./parse-line.ts";

test.each([
  ["hello there ", { verb: "say", text: "hello there" }],
  ["  ", { verb: "nothing" }],
  ["//tools is a command", { verb: "say", text: "/tools is a command" }],
  ["/tools  oven ", { verb: "tools", peer: "oven" }],
  ["/call oven heat", { verb: "call", peer: "oven", tool: "heat", args: {} }],
  ['/call oven heat {"a": "} x"}', { verb: "call", peer: "oven", tool: "heat", args: { a: "} x" } }],
  [
    '/propose oven heat {"a": {"b": "}"}} for the bread {it}',
    { verb: "propose", peer: "oven", tool: "heat", args: { a: { b: "}" } }, reason: "for the bread {it}" },
  ],
  [
    "/propose oven heat for the bread",
    { verb: "propose", peer: "oven", tool: "heat", args: {}, reason: "for the bread" },
  ],
  ["/pending", { verb: "pending", id: undefined }],
  ["/approve 1", { verb: "approve", id: "1", target: undefined, changes: undefined }],
  ['/approve 1 {"a":1}', { verb: "approve", id: "1", target: undefined, changes: { a: 1 } }],
  ['/approve 1 oven {"a":1}', { verb: "approve", id: "1", target: "oven", changes: { a: 1 } }],
  ["/reject 1 too hot", { verb: "reject", id: "1", reason: "too hot" }],
])("%s", (text, line) => {
  expect(parseLine(text)).toEqual(line);
});

test.each([
  ["/call oven", "/call has a missing argument; write /call PEER TOOL JSON"],
  ["/reject 1", "/reject has a missing argument; write /reject ID REASON"],
  ["/aprove 1", "there is no /aprove; did you mean /approve?"],
  ["/call oven heat [1]", "the text [1] is not a JSON object"],
  ["/propose oven heat {a} why", "the text {a} why is not a JSON object"],
])("%s is told what is wrong", (text, fault) => {
  expect(() => parseLine(text)).toThrow(fault);
});
