import type { JsonObject } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { eraOf } from "./era-of.ts";

const version = "io.modelcontextprotocol/protocolVersion";
const caps = "io.modelcontextprotocol/clientCapabilities";
const good = { [version]: "2026-07-28", [caps]: {} };
const request = (method: string, _meta?: JsonObject) =>
  ({ kind: "request", id: 1, method, params: _meta === undefined ? {} : { _meta } }) as const;
const notification = (_meta?: JsonObject) =>
  ({ kind: "notification", method: "n", params: _meta === undefined ? {} : { _meta } }) as const;

test.each([
  ["no claim, no header", request("tools/list"), undefined, "legacy"],
  ["no claim, a legacy header", request("tools/list"), "2025-06-18", "legacy"],
  ["a claim, no header", request("tools/list", good), undefined, "modern"],
  ["a claim, a legacy header", request("tools/list", good), "2025-06-18", "modern"],
  ["a bad claim", request("tools/list", { [version]: 7 }), undefined, "modern"],
  ["other keys alone", request("tools/list", { [caps]: {}, progressToken: 1 }), undefined, "legacy"],
  ["initialize", request("initialize"), undefined, "legacy"],
  ["initialize with a claim", request("initialize", good), "2026-07-28", "modern"],
  ["initialize with a bad claim", request("initialize", { [version]: "2026-07-28" }), undefined, "legacy"],
  [
    "initialize with a legacy claim",
    request("initialize", { ...good, [version]: "2025-06-18" }),
    undefined,
    "legacy",
  ],
  ["a notification", notification(), undefined, "legacy"],
  ["a notification with a modern header", notification(), "2026-07-28", "modern"],
  ["a notification with a claim", notification(good), undefined, "modern"],
])("%s: %s", (_what, message, header, era) => {
  expect(eraOf(message, header)).toBe(era);
});

test.each([
  ["initialize under a modern header", request("initialize"), -32020],
  ["a modern header without a claim", request("tools/list"), -32602],
  ["a modern header with half a claim", request("tools/list", { [caps]: {} }), -32602],
])("%s is refused", (_what, message, code) => {
  expect(() => eraOf(message, "2026-07-28")).toThrow(
    expect.objectContaining({ fault: expect.objectContaining({ code }) }),
  );
});
