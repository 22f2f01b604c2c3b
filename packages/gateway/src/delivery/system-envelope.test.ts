import { McpxError } from "@mcpx/protocol";
import { describe, expect, test } from "vitest";
import { errorText, presenceText, systemText, systemTextRaw } from "./system-envelope.ts";

const now = Date.UTC(2030, 0, 1);
const addressing = { protocol: "mcpx/v0.1", to: "alice", correlationId: "e-1" } as const;
const system = { envelopeId: "e-1", requestId: undefined, isMcp: false };

test("[X0-5.2-5] [X1-4.4-1] what the gateway says is a whole envelope of its own, with a new id each time", () => {
  const first = JSON.parse(systemText(addressing, now, { event: "ack" }));
  expect(first).toEqual({
    protocol: "mcpx/v0.1",
    id: expect.any(String),
    ts: "2030-01-01T00:00:00.000Z",
    from: "system:gateway",
    to: ["alice"],
    kind: "system",
    correlation_id: "e-1",
    payload: { event: "ack" },
  });
  expect(JSON.parse(systemText(addressing, now, {})).id).not.toBe(first.id);
});

test("to all, it addresses nobody and refers to nothing", () => {
  const all = JSON.parse(presenceText("mcp-x/v0", now, { event: "join" }));
  expect(all).toMatchObject({ protocol: "mcp-x/v0", kind: "presence", payload: { event: "join" } });
  expect(all).not.toHaveProperty("to");
  expect(all).not.toHaveProperty("correlation_id");
});

test("a payload given as text stays as it is", () => {
  expect(systemTextRaw(addressing, now, '{"n":1.0}')).toContain('"payload":{"n":1.0}}');
});

describe("[X1-4.4.2-1] a refusal", () => {
  const violation = new McpxError("privilege_violation", "not you");

  test("of a request is a JSON-RPC error with the request's id as it was written", () => {
    const text = errorText(addressing, now, violation, { envelopeId: "e-1", requestId: "1.0", isMcp: true });
    expect(text).toContain('"payload":{"jsonrpc":"2.0","id":1.0,"error":{"code":-32001,');
    expect(JSON.parse(text)).toMatchObject({
      kind: "mcp",
      from: "system:gateway",
      correlation_id: "e-1",
      payload: {
        error: {
          message: "Privilege violation",
          data: {
            reason: "privilege_violation",
            detail: "not you",
            suggestion: "Use kind: 'mcp/proposal' instead",
          },
        },
      },
    });
  });

  test("of a response or notification for want of rights is one with id null", () => {
    const { payload } = JSON.parse(errorText(addressing, now, violation, { ...system, isMcp: true }));
    expect(payload).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: -32001 } });
  });

  test("of anything else is a system error, with the time to wait where there is one", () => {
    const limited = new McpxError("rate_limited", "slowly", { retryAfterMs: 20 });
    const { kind, payload } = JSON.parse(errorText(addressing, now, limited, system));
    expect(kind).toBe("system");
    expect(payload).toMatchObject({
      event: "error",
      code: 42901,
      reason: "rate_limited",
      retry_after_ms: 20,
    });
    const notMcp = JSON.parse(errorText(addressing, now, violation, system));
    expect(notMcp.payload).toMatchObject({ event: "error", code: -32001, reason: "privilege_violation" });
    expect(notMcp.payload).not.toHaveProperty("retry_after_ms");
  });

  test("of what could not be read refers to nothing", () => {
    const unread = { protocol: "mcpx/v0.1", to: "alice", correlationId: undefined } as const;
    const text = errorText(unread, now, new McpxError("bad_json"), { ...system, envelopeId: undefined });
    expect(JSON.parse(text)).not.toHaveProperty("correlation_id");
  });
});
