import { describe, expect, test } from "vitest";
import { errorTable, isMcpxError, McpxError, type Reason } from "./errors.ts";

const rows = Object.entries(errorTable).map(([reason, row]) => ({ reason: reason as Reason, ...row }));
const fixedWords = ["tool_degraded", "budget_exceeded", "namespace_conflict"];
const isJsonRpcs = (code: number) => code >= -32768 && code <= -32000;

describe("the table of errors", () => {
  test.each(rows)("$reason is a stable word with a text and a way out", ({ reason, message, suggestion }) => {
    expect(reason).toMatch(/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/);
    // One line, no full stop: it goes into headings and before a colon. The sources give some as words.
    if (!fixedWords.includes(message)) expect(message).toMatch(/^[A-Z`][^\n|]*[^.\s]$/);
    expect(suggestion).toMatch(/^[A-Z][^\n|]*[^.\s]$/);
  });

  test.each(rows.filter(({ code }) => !isJsonRpcs(code)))(
    "$reason has a number of ours, $code, made from its HTTP status",
    ({ code, http }) => {
      expect(Math.floor(code / 100)).toBe(http);
    },
  );

  test("numbers in the range of JSON-RPC are those the sources fix", () => {
    const fixed = rows.filter(({ code }) => isJsonRpcs(code)).map(({ reason, code }) => [reason, code]);
    expect(Object.fromEntries(fixed)).toEqual({
      bad_json: -32700,
      bad_json_rpc: -32600,
      request_needs_one_target: -32600,
      privilege_violation: -32001,
      kind_not_allowed: -32001,
      unknown_tool: -32601,
      unknown_prompt: -32602,
      unknown_resource: -32602,
      unknown_method: -32601,
      bad_params: -32602,
      state_unknown: -32602,
      subserver_unreachable: -32002,
      budget_exceeded: -32003,
      missing: -32003,
      malformed: -32003,
      bad_signature: -32003,
      wrong_issuer: -32003,
      wrong_topic: -32003,
      expired: -32003,
      not_yet_valid: -32003,
      tool_not_covered: -32003,
      arguments_refused: -32003,
      wrong_holder: -32003,
      wrong_channel: -32003,
      uses_exhausted: -32003,
      revoked: -32003,
      delegation_widened: -32003,
      delegation_too_long: -32003,
      proof_missing: -32003,
      proof_invalid: -32003,
      replayed: -32003,
      policy_denied: -32003,
      approval_refused: -32003,
      approval_timeout: -32003,
      grant_refused: -32003,
    });
  });

  test("numbers of ours are given once", () => {
    const own = rows.map(({ code }) => code).filter((code) => !isJsonRpcs(code));
    expect(new Set(own).size).toBe(own.length);
  });

  test.each(rows)("$reason: HTTP $http is $fault's fault", ({ http, fault }) => {
    expect(http >= 500 ? "gateway" : "caller").toBe(fault);
  });

  test("what a caller got wrong is not worth repeating, save for what time mends", () => {
    const repeated = rows.filter(({ fault, retry }) => fault === "caller" && retry);
    expect(repeated.map(({ reason }) => reason)).toEqual([
      "rate_limited",
      "too_many_sessions",
      "duplicate_subserver",
      "too_many_gates",
    ]);
  });

  test("a blocked mcp envelope is told as the sources tell it", () => {
    expect(errorTable.privilege_violation).toMatchObject({
      code: -32001,
      message: "Privilege violation",
      suggestion: "Use kind: 'mcp/proposal' instead",
    });
  });
});

describe("an error", () => {
  test("has the texts of its row unless told otherwise", () => {
    const error = new McpxError("bad_field");
    expect(error).toMatchObject({
      name: "McpxError",
      code: "bad_field",
      message: "Bad field",
      detail: "Bad field",
      suggestion: "Correct the field named in the detail",
      retryAfterMs: undefined,
    });
    expect(error.cause).toBeUndefined();
  });

  test("carries a detail, a suggestion, a time and a cause of its own", () => {
    const cause = new Error("internals");
    const error = new McpxError("rate_limited", "51 in a second", {
      suggestion: "Slow down",
      retryAfterMs: 20,
      cause,
    });
    expect(error).toMatchObject({
      message: "Too many messages: 51 in a second",
      detail: "51 in a second",
      suggestion: "Slow down",
      retryAfterMs: 20,
    });
    expect(error.cause).toBe(cause);
  });

  test("shows nothing of its cause to strangers", () => {
    const error = new McpxError("internal", undefined, { cause: new Error("s3cret") });
    expect(`${error.message} ${error.detail} ${error.suggestion}`).not.toContain("s3cret");
    expect(JSON.stringify(error)).not.toContain("s3cret");
  });
});

describe("our errors are recognised by their word", () => {
  const foreign = (fields: object) => Object.assign(new Error("x"), fields);

  test.each([new McpxError("internal"), foreign({ code: "bad_json", detail: "from another copy" })])(
    "%s is ours",
    (error) => {
      expect(isMcpxError(error)).toBe(true);
    },
  );

  test.each([
    ["a plain error", new Error("bad_json")],
    ["a system error", foreign({ code: "ENOENT", detail: "x" })],
    ["another library's word without our texts", foreign({ code: "not_found" })],
    ["a detail that is no text", foreign({ code: "not_found", detail: { row: 1 } })],
    ["a number", foreign({ code: -32001, detail: "x" })],
    ["a word of Object's", foreign({ code: "constructor", detail: "x" })],
    ["__proto__", foreign({ code: "__proto__", detail: "x" })],
    ["no error at all", { code: "bad_json", detail: "x" }],
    ["a string", "bad_json"],
    ["null", null],
    ["nothing", undefined],
  ])("%s is not", (_title, error) => {
    expect(isMcpxError(error)).toBe(false);
  });
});
