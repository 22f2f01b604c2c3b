import { defaultLimits, type Envelope, type JsonObject } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { checkReason } from "./lifecycle.ts";

const check = (payload: JsonObject) => () => checkReason({ payload } as Envelope, defaultLimits);
const { reasonCharsMax, codeCharsMax } = defaultLimits;

test.each([
  ["nothing", {}],
  ["both", { reason: "Baking until six", code: "busy" }],
  ["the longest", { reason: "r".repeat(reasonCharsMax), code: "c".repeat(codeCharsMax) }],
])("[PL-2-2] a word about a proposal may say %s", (_name, payload) => {
  expect(check(payload)).not.toThrow();
});

test.each([
  ["a reason that is too long", { reason: "r".repeat(reasonCharsMax + 1) }, "payload.reason", reasonCharsMax],
  ["a code that is too long", { code: "c".repeat(codeCharsMax + 1) }, "payload.code", codeCharsMax],
  ["a reason that is no text", { reason: {} }, "payload.reason", reasonCharsMax],
  ["a code that is no text", { code: 1 }, "payload.code", codeCharsMax],
])("[PL-2-2] %s is refused, and the bound is named", (_name, payload, field, max) => {
  const detail = `${field} must be a string of at most ${max} characters`;
  expect(check(payload)).toThrow(
    expect.objectContaining({ code: "bad_lifecycle", message: expect.stringContaining(detail) }),
  );
});
