import { expect, test } from "vitest";
import { callerOf } from "../testing/test-tree.ts";
import { askerOf, isNamed, readAsker, withAsker } from "./asker.ts";

const keys = ["A".repeat(43)];
const told = (asker: unknown) => readAsker({ _meta: { "x-mcpax-asker": asker } }, "parent:leaf");
const malformed = expect.objectContaining({ code: "bad_params" });

test("[AX-11.3-6] who asks is told from hop to hop, each with the name the next has for the one before", () => {
  const above = withAsker({ name: "t", _meta: { kept: 1 } }, callerOf({ principal: { id: "alice" } }));
  expect(above).toEqual({ name: "t", _meta: { kept: 1, "x-mcpax-asker": { name: "alice", keys: [] } } });
  const asker = readAsker(above, "parent:mid");
  expect(asker).toEqual({ name: "parent:mid/alice", keys: [] });
  const middle = withAsker({}, { ...callerOf(), asker });
  expect(readAsker(middle, "parent:leaf")).toEqual({ name: "parent:leaf/parent:mid/alice", keys: [] });
  expect(askerOf({ ...callerOf(), asker })).toBe(asker);
  expect(readAsker({}, "parent:leaf")).toBeUndefined();
});

test.each([
  null,
  "alice",
  [],
  {},
  { name: "alice" },
  { name: "", keys: [] },
  { name: 1, keys: [] },
  { name: "\ud800", keys: [] },
  { name: "a".repeat(2_049), keys: [] },
  { name: "alice", keys: ["short"] },
  { name: "alice", keys: "A".repeat(43) },
  { name: "alice", keys: Array.from({ length: 17 }, () => keys[0]) },
])("what is no asker is refused: %o", (asker) => {
  expect(() => told(asker)).toThrow(malformed);
});

test("[AX-11.3-6] a name is who asks at whatever hop it was said", () => {
  expect(told({ name: "alice", keys })).toEqual({ name: "parent:leaf/alice", keys });
  expect(isNamed("alice", "alice")).toBe(true);
  expect(isNamed("parent:leaf/parent:mid/alice", "alice")).toBe(true);
  expect(isNamed("parent:leaf/malice", "alice")).toBe(false);
  expect(isNamed("parent:leaf/Alice", "aLICE")).toBe(true);
  expect(isNamed("alice", undefined)).toBe(false);
});
