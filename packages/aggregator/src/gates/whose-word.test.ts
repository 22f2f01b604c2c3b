import { expect, test } from "vitest";
import { whoseWord } from "./whose-word.ts";

type Question = Parameters<typeof whoseWord>[0];

const wordOf = (item: object, { isTrusted = false, isOverridden = false } = {}) => {
  const overrides = { tools: new Map(isOverridden ? [["t", { capability: {} }]] : []) };
  return whoseWord({ server: { isTrusted, overrides }, name: "t", item } as unknown as Question);
};

const readOnly = { annotations: { readOnlyHint: true } };
const destructive = { annotations: { destructiveHint: true } };

test("[AX-9.1-2] a danger is the word of the operator, of a trusted server, of a server that warns, or assumed", () => {
  expect(wordOf(readOnly, { isOverridden: true })).toBe("operator");
  expect(wordOf(readOnly, { isTrusted: true })).toBe("server");
  expect(wordOf(destructive)).toBe("server_warns");
  expect(wordOf(readOnly)).toBe("not_believed");
  expect(wordOf({})).toBe("assumed");
  expect(wordOf({}, { isTrusted: true })).toBe("assumed");
  expect(wordOf({ annotations: { title: "Nice" } })).toBe("assumed");
  const warns = { _meta: { "x-mcpax-capability": { mutable: true, reversible: false } } };
  expect(wordOf(warns)).toBe("server_warns");
  const soothes = { _meta: { "x-mcpax-capability": { mutable: false, reversible: true } } };
  expect(wordOf(soothes)).toBe("not_believed");
});
