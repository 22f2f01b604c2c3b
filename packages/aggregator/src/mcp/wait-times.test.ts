import { expect, test } from "vitest";
import { knownClients } from "./known-clients.ts";
import { waitMsOf } from "./wait-times.ts";

const waitMs = (wantsProgress: boolean, name?: unknown, given?: unknown) =>
  waitMsOf({ given, wantsProgress, info: name === undefined ? undefined : { name } });

test("[B-CLIENT-1] clients nobody knows are answered within a minute, later where they hear that it goes on", () => {
  for (const name of [undefined, "langchain", "my claude-code", "", 7, "x".repeat(1_000_000)]) {
    expect(waitMs(false, name)).toBe(30_000);
    expect(waitMs(true, name)).toBe(50_000);
  }
});

test("[B-CLIENT-1] a client that progress keeps waiting is held for minutes, others as long as they wait", () => {
  expect(waitMs(true, "claude-code")).toBe(300_000);
  expect(waitMs(false, "claude-code")).toBe(290_000);
  expect(waitMs(true, "codex-mcp-client")).toBe(290_000);
  expect(waitMs(true, "claude-ai")).toBe(50_000);
  expect(waitMs(true, "opencode")).toBe(300_000);
  expect(waitMs(false, "opencode")).toBe(50_000);
  expect(waitMs(false, "@langchain/mcp-adapters")).toBe(50_000);
  expect(waitMs(false, "gemini-cli-mcp-client-v0.61.0")).toBe(300_000);
});

test("every client that is known is answered before it gives up", () => {
  for (const { waitsMs, source } of knownClients) {
    expect(waitsMs).toBeGreaterThan(10_000);
    expect(source.length).toBeGreaterThan(20);
  }
});

test("who asks for another time gets it, up to five minutes", () => {
  expect(waitMs(true, "claude-code", 4_000)).toBe(4_000);
  expect(waitMs(false, undefined, 0)).toBe(0);
  expect(waitMs(false, undefined, 1e9)).toBe(300_000);
  for (const given of [-1, 1.5, "long", null]) {
    expect(() => waitMs(false, undefined, given)).toThrow(expect.objectContaining({ code: "bad_params" }));
  }
});
