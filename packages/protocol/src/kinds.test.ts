import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { kinds, parseKind } from "./kinds.ts";

describe("[X1-4-1] the kinds of the protocol", () => {
  test.each([
    "mcp", "mcp/proposal", "chat", "presence", "system",
    "mcpx.withdraw.proposal", "mcpx.reject.proposal", "mcpx.status.proposal",
  ])("%s is one", (kind) => {
    expect(parseKind(kind)).toEqual({ kind });
    expect(kinds).toContain(kind);
  }); // biome-ignore format: one line reads best

  test("there are no others", () => {
    expect(kinds).toHaveLength(8);
  });
});

describe("[PL-7-1] proposals with the method in their kind", () => {
  test.each([
    ["mcp.proposal", {}],
    ["mcp.proposal.tools/call", { method: "tools/call" }],
    ["mcp/proposal:tools/call", { method: "tools/call" }],
    ["mcp.proposal.tools/call:turn-left", { method: "tools/call", context: "turn-left" }],
    ["mcp/proposal:tools/call:turn-left", { method: "tools/call", context: "turn-left" }],
    ["mcp/proposal:tools/call:a:b c\u00e9", { method: "tools/call", context: "a:b c\u00e9" }],
    ["mcp/proposal:tools/call:", { method: "tools/call", context: "" }],
    ["mcp.proposal.com.example.run", { method: "com.example.run" }],
    ["mcp/proposal:$/x-y_z", { method: "$/x-y_z" }],
  ])("%s is mcp/proposal", (written, rest) => {
    expect(parseKind(written)).toEqual({ kind: "mcp/proposal", ...rest });
  });
});

describe("[PL-7-2] fulfilments with the method in their kind", () => {
  test.each([
    ["mcp/request", {}],
    ["mcp/request:tools/call", { method: "tools/call" }],
    ["mcp.request.tools/call", { method: "tools/call" }],
    ["mcp/request:tools/call:ctx", { method: "tools/call", context: "ctx" }],
  ])("%s is mcp, and a request", (written, rest) => {
    expect(parseKind(written)).toEqual({ kind: "mcp", isRequest: true, ...rest });
  });

  test.each([
    // Case.
    "MCP", "Mcp", "Chat", "SYSTEM", "MCP/PROPOSAL", "mcp/Proposal", "MCP.proposal.tools/call", "mcp/Request:tools/call",
    // Spaces and other invisible company.
    "", " ", " mcp", "mcp ", "mcp\n", "\nmcp", "mcp\r\n", "mcp\t", "mcp\0", "mcp\u200b", "mcp\u00a0", "\ufeffmcp",
    "mcp /proposal", "mcp/ proposal", "mcp/proposal ", "mcp/proposal\n", "mcp/proposal: tools/call",
    "mcp/proposal:tools/call ", "mcp/proposal:tools/call\n", "mcp/proposal:tools/call\n:ctx", "mcp.proposal. x",
    // Letters of other alphabets, full width, combining marks.
    "m\u0441p", "\u043ccp", "mc\u0440", "\uff4d\uff43\uff50", "mcp\u0301", "\uff43hat", "\u0455ystem", "mcp\uff0fproposal", "mcp\u2215proposal", "mcp/propos\u0430l",
    "mcp/proposal\uff1atools/call", "mcp/proposal:t\u00f6ols/call", "mcp\u2024proposal\u2024tools/call",
    // Other prefixes and halves.
    "mcp/", "mcp/proposals", "mcp.proposal.", "mcp/proposal:", "mcp/proposal::ctx", "mcp.proposal.:ctx",
    "mcp.request", "mcp/request:", "mcp.Proposal", "mcp/Request", "mcp.request.", "mcp/response:tools/call", "mcp/proposal.tools/call",
    "mcp.proposal:tools/call", "mcp:proposal", "mcp-proposal", "mcp//proposal", "mcp\\proposal", "x/mcp", "mcp,chat",
    "mcpx", "mcpx/proposal", "mcp.withdraw.proposal", "mcp.reject.proposal", "mcpx.withdraw.proposal.x",
    "mcpx.withdraw", "mcpx/withdraw/proposal", "mcpx.Withdraw.proposal", "mcpx.withdraw.proposal ", "mcpx.cancel.proposal",
    "chats", "chat/message", "presence/join", "system:gateway", "__proto__", "constructor", "toString", "hasOwnProperty",
  ])("the look-alike %j is unknown", (written) => {
    expect(parseKind(written)).toBeUndefined();
  }); // biome-ignore format: a list
});

test("a kind has an end", () => {
  const method = "m".repeat(128);
  expect(parseKind(`mcp/proposal:${method}`)).toBeDefined();
  expect(parseKind(`mcp/proposal:${method}m`)).toBeUndefined();
  const longest = `mcp/proposal:m:${"c".repeat(241)}`;
  expect(longest).toHaveLength(256);
  expect(parseKind(longest)).toBeDefined();
  expect(parseKind(`${longest}c`)).toBeUndefined();
});

test("whatever is written, a known kind is spelled exactly or by one of four prefixes", () => {
  const near = fc.tuple(
    fc.constantFrom(
      ...kinds,
      "mcp.proposal",
      "mcp/request",
      "mcp/proposal:",
      "mcp.proposal.",
      "mcp/request:",
      "mcp.request.",
    ),
    fc.string(),
  );
  const written = fc.oneof(
    near.map(([start, rest]) => start + rest),
    fc.string({ unit: "grapheme" }),
  );
  fc.assert(
    fc.property(written, (text) => {
      const parsed = parseKind(text);
      if (parsed === undefined || parsed.method === undefined) {
        expect([parsed?.kind ?? text, "mcp.proposal", "mcp/request"]).toContain(text);
        return;
      }
      const { kind, method, context } = parsed;
      const starts = kind === "mcp" ? ["mcp/request:", "mcp.request."] : ["mcp/proposal:", "mcp.proposal."];
      const rest = context === undefined ? method : `${method}:${context}`;
      expect(starts.map((start) => start + rest)).toContain(text);
    }),
    { numRuns: 1_000 },
  );
});
