import { expect, test } from "vitest";
import { readPeerTool } from "./peer-tool.ts";

const inputSchema = { type: "object" };

test("[B-ROOM-1] a tool keeps what clients know, in the types they know", () => {
  const tool = {
    name: "look",
    title: "Look",
    description: "Looks",
    inputSchema: { type: "object", properties: { at: { type: "string" } }, required: ["at"] },
    outputSchema: { type: "object" },
    annotations: { title: "Look", readOnlyHint: true },
    _meta: { mine: 1 },
  };
  expect(readPeerTool(tool)).toEqual(tool);
  const odd = {
    ...tool,
    title: 1,
    description: null,
    outputSchema: [],
    annotations: { readOnlyHint: 1 },
    icons: 2,
  };
  expect(readPeerTool(odd)).toEqual({
    name: "look",
    inputSchema: tool.inputSchema,
    annotations: {},
    _meta: { mine: 1 },
  });
});

test.each([
  null,
  [],
  "tool",
  {},
  { name: "t" },
  { name: "", inputSchema },
  { name: 1, inputSchema },
  { name: "t".repeat(256), inputSchema },
  { name: "t", inputSchema: { type: "array" } },
  { name: "t", inputSchema: { type: "object", properties: [] } },
  { name: "t", inputSchema: { type: "object", properties: { a: 1 } } },
  { name: "t", inputSchema: { type: "object", required: "a" } },
  { name: "t", inputSchema, description: "x".repeat(300_000) },
  { name: "t", inputSchema: { ...inputSchema, x: Array(5_000).fill({}) } },
])("[B-ROOM-1] what no client could read is none (%#)", (item) => {
  expect(readPeerTool(item)).toBeUndefined();
});

test("[B-ROOM-1] nor is what is nested without end", () => {
  let deep: object = {};
  for (let i = 0; i < 200; i += 1) deep = { deep };
  expect(readPeerTool({ name: "t", inputSchema, _meta: deep })).toBeUndefined();
});
