import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { foldCase, isId, isReservedId, matchesAnyGlob, matchesGlob } from "./names.ts";

describe("[X0-3-1] names of topics, participants and envelopes", () => {
  test.each([
    "room:alpha", "a", "0", "x".repeat(128), "a.b_c:d@e/f+g-h", "2f6b6e70-7b36-4b8b-9ad8-7c4f7d0e2d0b",
    "__proto__", "constructor", "/", ".", "..",
  ])("%s is one", (name) => {
    expect(isId(name)).toBe(true);
  }); // biome-ignore format: one line reads best

  test.each([
    "", " ", "a b", " a", "a ", "a\n", "\na", "a\0", "a\t", "é", "\uff41", "\u0430", "😀", "a%2Fb", "a*", "a,b", "a;b", "a?b", "a#b",
    "a\\b", "a\"b", "a'b", "<a>", "a&b", "a=b", "a~b", "a!b", "a$b", "a(b)", "a[b]", "a{b}", "a|b", "a^b", "a`b",
    "\u200ba", "a\u0301", "x".repeat(129), 1, null, undefined, true, ["a"], { length: 1 }, Object("a"),
  ])("%j is none", (name) => {
    expect(isId(name)).toBe(false);
  }); // biome-ignore format: a list

  test("exactly the characters of A-Z a-z 0-9 . _ : @ / + - are allowed", () => {
    const anyId = fc.constantFrom(..."azAZ09._:@/+-");
    const anyUnit = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code));
    fc.assert(
      fc.property(
        fc.string({ unit: fc.oneof({ arbitrary: anyId, weight: 20 }, { arbitrary: anyUnit, weight: 1 }) }),
        (name) => {
          expect(isId(name, 128)).toBe(/^[A-Za-z0-9._:@/+-]{1,128}$/.test(name));
        },
      ),
    );
    for (let code = 0; code < 0x250; code += 1) {
      const char = String.fromCharCode(code);
      expect(isId(char)).toBe(/^[A-Za-z0-9._:@/+-]$/.test(char));
    }
  });

  test("the length is bounded as told", () => {
    expect(isId("abcd", 4)).toBe(true);
    expect(isId("abcde", 4)).toBe(false);
  });
});

describe("[X0-9-3] ids of the gateway are no participant's", () => {
  test.each([
    "system:gateway",
    "system:",
    "system:x",
    "System:gateway",
    "SYSTEM:X",
    "system",
    "gateway",
    "Gateway",
  ])("%s is reserved", (id) => {
    expect(isReservedId(id)).toBe(true);
  });

  test.each([
    "systems",
    "system-1",
    "my-system:",
    "gateway-1",
    "a-gateway",
    "sys:tem",
    ":system",
    "gateway:",
    "a",
  ])("%s is not", (id) => {
    expect(isReservedId(id)).toBe(false);
  });
});

test.each([
  ["Kind", "kind"],
  ["KIND", "kind"],
  ["\u212aind", "kind"],
  ["t\u017f", "ts"],
  ["\u0131d", "id"],
  ["kinds", "kinds"],
  ["__proto__", "__proto__"],
])("%j without its case is %s", (key, folded) => {
  expect(foldCase(key)).toBe(folded);
});

describe("globs", () => {
  test.each([
    ["room:alpha", "room:alpha", true],
    ["room:alpha", "room:alph", false],
    ["room:alpha", "room:alphas", false],
    ["room:alpha", "Room:alpha", false],
    ["room:*", "room:alpha", true],
    ["room:*", "room:", true],
    ["room:*", "room:a/b", false],
    ["room:**", "room:a/b", true],
    ["*", "a", true],
    ["*", "", true],
    ["*", "a/b", false],
    ["**", "", true],
    ["**", "a/b/c", true],
    ["***", "a/b/c", true],
    ["*/*", "a/b", true],
    ["*/*", "a/b/c", false],
    ["*/**", "a/b/c", true],
    ["**/c", "a/b/c", true],
    ["**/c", "c", false],
    ["a/**/c", "a/c", false],
    ["a/**/c", "a/b/c", true],
    ["a**c", "a/b/c", true],
    ["a*c", "a/c", false],
    ["**a*b", "xa/b/ab", true],
    ["**a*b", "xa/b", false],
    ["*a**b*c", "xa/y/b-c", true],
    ["", "", true],
    ["", "a", false],
    ["a", "", false],
    // Only stars are special.
    ["a.c", "abc", false],
    ["a?c", "abc", false],
    ["[ab]", "a", false],
    ["a+", "aa", false],
    ["\\*", "*", false],
  ])("%s and %s: %s", (glob, name, expected) => {
    expect(matchesGlob(glob, name)).toBe(expected);
  });

  test("any of several is enough, none of none is not", () => {
    expect(matchesAnyGlob(["a", "b*"], "bc")).toBe(true);
    expect(matchesAnyGlob(["a", "b*"], "c")).toBe(false);
    expect(matchesAnyGlob([], "")).toBe(false);
  });

  /** What a glob means, told without thought of speed. */
  function matchesNaively(glob: string, name: string): boolean {
    if (glob === "") return name === "";
    if (glob.startsWith("**")) {
      return matchesNaively(glob.slice(2), name) || (name !== "" && matchesNaively(glob, name.slice(1)));
    }
    if (glob.startsWith("*")) {
      const canGrow = name !== "" && !name.startsWith("/");
      return matchesNaively(glob.slice(1), name) || (canGrow && matchesNaively(glob, name.slice(1)));
    }
    return name !== "" && glob[0] === name[0] && matchesNaively(glob.slice(1), name.slice(1));
  }

  test("a glob matches what the plain definition says", () => {
    const globs = fc.string({ unit: fc.constantFrom("*", "**", "a", "b", "/"), maxLength: 8 });
    const names = fc.string({ unit: fc.constantFrom("a", "b", "/"), maxLength: 9 });
    fc.assert(
      fc.property(globs, names, (glob, name) => {
        expect(matchesGlob(glob, name)).toBe(matchesNaively(glob, name));
      }),
      { numRuns: 20_000 },
    );
  });

  test("a glob made from a name by putting in stars matches it", () => {
    const part = fc.record({
      text: fc.string({ unit: fc.constantFrom("a", "b", "/"), maxLength: 4 }),
      isStar: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const name = parts.map(({ text }) => text).join("");
        const star = (text: string) => (text.includes("/") ? "**" : "*");
        const glob = parts.map(({ text, isStar }) => (isStar ? star(text) : text)).join("");
        expect(matchesGlob(glob, name)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  test("many stars do not make it slow", () => {
    const name = "a".repeat(128);
    const before = performance.now();
    for (const star of ["*", "**", "*a*", "**a*", "**a*a"]) matchesGlob(`${star.repeat(60)}b`, name);
    // Backtracking over every star would take longer than the sun has left.
    expect(performance.now() - before).toBeLessThan(2_000);
  });
});
