import { expect, test } from "vitest";
import { checkRevision, readRequestMeta, withoutHop } from "./request-meta.ts";

const prefix = "io.modelcontextprotocol";

test("what a client says of itself is read", () => {
  const _meta = {
    [`${prefix}/protocolVersion`]: "2026-07-28",
    [`${prefix}/clientCapabilities`]: { roots: {} },
    [`${prefix}/clientInfo`]: { name: "a" },
    [`${prefix}/logLevel`]: "warning",
  };
  expect(readRequestMeta({ _meta })).toEqual({
    revision: "2026-07-28",
    capabilities: { roots: {} },
    info: { name: "a" },
    logLevel: "warning",
  });
});

test("only our own revision is served", () => {
  checkRevision("2026-07-28");
  expect(() => checkRevision("2025-11-25")).toThrow(
    expect.objectContaining({
      fault: expect.objectContaining({
        code: -32022,
        data: { supported: ["2026-07-28"], requested: "2025-11-25" },
      }),
    }),
  );
});

test("what belongs to the hop, and every route, is taken out; the rest goes on", () => {
  const params = { name: "a", arguments: { _meta: { "x-mcpax-route": 1 } } };
  expect(withoutHop(params)).toBe(params);
  expect(withoutHop({ ...params, _meta: {} })).toEqual(params);
  const _meta = {
    [`${prefix}/protocolVersion`]: "2026-07-28",
    [`${prefix}/subscriptionId`]: 1,
    progressToken: 1,
    "x-mcpax-route": [],
    "X-MCPAX-hops": 1,
    "x-mcpax-": 1,
    "example.com/own": 1,
    traceparent: "t",
  };
  expect(withoutHop({ ...params, _meta })).toEqual({
    ...params,
    _meta: { "example.com/own": 1, traceparent: "t" },
  });
});
