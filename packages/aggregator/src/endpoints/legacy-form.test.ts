import { expect, test } from "vitest";
import { legacyFault, legacyResult } from "./legacy-form.ts";

test("what only the modern era has is taken off, at the top alone", () => {
  const content = [{ type: "text", text: "a", ttlMs: 1 }];
  expect(legacyResult({ resultType: "complete", ttlMs: 1, cacheScope: "public", content })).toEqual({
    content,
  });
});

test("a question is no legacy result", () => {
  expect(() => legacyResult({ resultType: "input_required", inputRequests: {} })).toThrow(
    expect.objectContaining({ code: "bad_server_answer" }),
  );
});

test("an unknown resource has its old code; servers' own errors are left alone", () => {
  const fault = { code: -32602, message: "a", data: { reason: "unknown_resource" } };
  expect(legacyFault(fault)).toEqual({ ...fault, code: -32002 });
  for (const other of [
    { code: -32602, message: "a" },
    { code: -32042, message: "a", data: { elicitations: [] } },
  ]) {
    expect(legacyFault(other)).toBe(other);
  }
});
