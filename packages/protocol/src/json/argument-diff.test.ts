import fc from "fast-check";
import { expect, test } from "vitest";
import { type ArgumentChange, argumentDiff } from "./argument-diff.ts";
import { canonicalJson } from "./canonical-json.ts";
import { parseExact } from "./exact-json.ts";

test("[B-GATE-1] what came, what went and what is another now, each by its pointer", () => {
  const before = { path: "/tmp/a", force: false, gone: [1], "a/b": { "c~d": 1 } };
  const after = { path: "/tmp/b", force: false, come: null, "a/b": { "c~d": 2 } };
  expect(argumentDiff(before, after)).toEqual({
    changes: [
      { path: "/a~1b/c~0d", old: "1", new: "2" },
      { path: "/come", new: "null" },
      { path: "/gone", old: "[1]" },
      { path: "/path", old: '"/tmp/a"', new: '"/tmp/b"' },
    ],
    more: 0,
  });
  expect(argumentDiff([1, 2], [1, 3, 4]).changes).toEqual([
    { path: "/1", old: "2", new: "3" },
    { path: "/2", new: "4" },
  ]);
  expect(argumentDiff({ a: { b: 1 } }, { a: 1 }).changes).toEqual([{ path: "/a", old: '{"b":1}', new: "1" }]);
});

test("numbers are compared exactly, and by what they mean", () => {
  const diff = (a: string, b: string) => argumentDiff(parseExact(a), parseExact(b)).changes;
  expect(diff('{"n":9007199254740993}', '{"n":9007199254740992}')).toEqual([
    { path: "/n", old: "9007199254740993", new: "9007199254740992" },
  ]);
  expect(diff('{"n":1.0}', '{"n":1}')).toEqual([]);
});

test("the names of objects are data: __proto__ and constructor too", () => {
  const before = JSON.parse('{"__proto__":1}');
  expect(argumentDiff(before, {}).changes).toEqual([{ path: "/__proto__", old: "1" }]);
  expect(argumentDiff({}, { constructor: 1 }).changes).toEqual([{ path: "/constructor", new: "1" }]);
});

test("it is bounded: what is left out is counted, and a change far behind is shown", () => {
  const many = Object.fromEntries(Array.from({ length: 80 }, (_, i) => [`k${i}`, i]));
  const { changes, more } = argumentDiff({}, many);
  expect([changes.length, more]).toEqual([50, 30]);
  const long = "x".repeat(100_000);
  const [change] = argumentDiff({ text: `${long}a` }, { text: `${long}b` }).changes;
  expect(change?.old).toMatch(/^…x{60}a" \(100003 characters\)$/);
  expect(change?.new).toMatch(/^…x{60}b" \(100003 characters\)$/);
  const [named] = argumentDiff({}, { [long]: long }).changes as [ArgumentChange];
  expect(named.path.length).toBeLessThan(210);
  expect(named.new?.length).toBeLessThan(340);
});

test("nothing differs exactly where both mean the same", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      const isSame = canonicalJson(a) === canonicalJson(b);
      expect(argumentDiff(a, b).changes.length === 0).toBe(isSame);
      expect(argumentDiff(a, structuredClone(a))).toEqual({ changes: [], more: 0 });
    }),
  );
});
