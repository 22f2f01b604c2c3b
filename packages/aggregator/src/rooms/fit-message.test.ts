import { defaultLimits, fitsRoom, type JsonObject } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { fitMessage } from "./fit-message.ts";

const fit = (message: JsonObject) => fitMessage({ jsonrpc: "2.0", id: 1, ...message }, defaultLimits);
const long = "x".repeat(300_000);
const nested = JSON.parse(`${'{"a":'.repeat(40)}1${"}".repeat(40)}`);

test("[B-TREE-1] what fits is said as it is", () => {
  const message = { result: { content: [{ type: "text", text: "hello" }] } };
  expect(fit(message)).toEqual({ jsonrpc: "2.0", id: 1, ...message });
});

test.each([
  ["too long", { content: [{ type: "text", text: long }] }],
  ["too deep", { content: [], structuredContent: nested }],
])("[B-TREE-1] a result that is %s: it has happened, and that is said", (_what, result) => {
  expect(fit({ result })).toMatchObject({
    id: 1,
    result: { isError: true, content: [{ text: expect.stringContaining("was called") }] },
  });
});

test("other answers and errors keep their ids; what nobody waits for is left out", () => {
  expect(fit({ result: { roots: long } })).toMatchObject({ id: 1, error: { data: { reason: "too_large" } } });
  expect(fit({ error: { code: -32000, message: "no", data: long } })).toEqual({
    jsonrpc: "2.0",
    id: 1,
    error: { code: -32000, message: "The answer is too large for this room" },
  });
  expect(
    fitMessage({ method: "notifications/progress", params: { message: long } }, defaultLimits),
  ).toBeUndefined();
});

test("[B-TREE-1] a long list comes in pages that fit, and each page says where to go on", () => {
  const toolOf = (i: number) => ({ name: `s.t${i}`, description: "y".repeat(1_000), inputSchema: {} });
  const tools = Array.from({ length: 900 }, (_, i) => toolOf(i));
  const giant = { name: "s.giant", description: long, inputSchema: {} };
  const answer = fit({ result: { tools: [giant, ...tools], nextCursor: "later" } });
  if (answer === undefined) throw new Error("somebody waits for it");
  const { tools: page, nextCursor } = answer.result as { tools: { name: string }[]; nextCursor: string };
  expect(fitsRoom(answer, defaultLimits)).toBe(true);
  expect(page.length).toBeGreaterThan(50);
  expect(page.map(({ name }) => name)).toEqual(tools.slice(0, page.length).map(({ name }) => name));
  expect(Buffer.from(nextCursor, "base64url").toString()).toBe(`>${page.at(-1)?.name}`);
  // Where all but the giant fit, it goes on where the tree says.
  const short = fit({ result: { tools: [giant, toolOf(1)], nextCursor: "later" } });
  expect(short).toMatchObject({ result: { tools: [{ name: "s.t1" }], nextCursor: "later" } });
});
