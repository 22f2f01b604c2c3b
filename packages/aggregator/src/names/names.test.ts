import fc from "fast-check";
import { expect, test } from "vitest";
import { aliasNames } from "./alias-names.ts";
import { renderNames } from "./dialects.ts";
import { isCanonicalName, isSegment } from "./segment.ts";

test("[AX-4.1-1] a name is dotted segments of a-z, 0-9, _ and -, each up to 63, together up to 255", () => {
  expect(isCanonicalName("fs.read_file")).toBe(true);
  expect(isCanonicalName("a".repeat(63))).toBe(true);
  for (const bad of ["", ".", "a.", ".a", "a..b", "A", "a b", "ä", "a".repeat(64), `${"a.".repeat(127)}aa`]) {
    expect(isCanonicalName(bad), bad).toBe(false);
  }
});

test("[AX-4.1-1] names that are no segments get a readable alias", () => {
  const aliases = aliasNames(["getWeather", "HTTPServer", "read file", "ok_name", "chat.say", "日本", "___"]);
  expect(aliases.get("getWeather")).toBe("get_weather");
  expect(aliases.get("HTTPServer")).toBe("http_server");
  expect(aliases.get("read file")).toBe("read_file");
  expect(aliases.get("ok_name")).toBe("ok_name");
  expect(aliases.get("chat.say")).toBe("chat_say");
  expect(aliases.get("日本")).toMatch(/^tool-[a-z0-9]{6}$/);
  expect(aliases.get("___")).toBe("___");
});

test("[AX-4.3-1] an aggregator's dotted names stay", () => {
  expect(aliasNames(["a.b.c"], true).get("a.b.c")).toBe("a.b.c");
  expect(aliasNames(["a.B"], true).get("a.B")).toBe("a_b");
});

const anyName = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 80 }),
  fc.string({ unit: fc.constantFrom(..."aAbB_.- 9"), maxLength: 5 }),
  fc.string({ unit: "grapheme-ascii", minLength: 60, maxLength: 130 }),
);

test("[AX-4.1-1] whatever the names, every one has an alias of its own, and their order does not matter", () => {
  fc.assert(
    fc.property(fc.uniqueArray(anyName, { maxLength: 40 }), fc.boolean(), (names, isDotted) => {
      const aliases = aliasNames(names, isDotted);
      expect(new Set(aliases.values()).size).toBe(names.length);
      for (const name of names) {
        const alias = aliases.get(name) ?? "";
        expect(isDotted ? isCanonicalName(alias) : isSegment(alias), alias).toBe(true);
      }
      expect(aliasNames(names.toReversed(), isDotted)).toEqual(aliases);
    }),
  );
});

test("a dialect renders every name its own way, and in its own alphabet", () => {
  const canonical = fc
    .array(fc.string({ unit: fc.constantFrom(..."ab_-9"), minLength: 1, maxLength: 30 }), {
      minLength: 1,
      maxLength: 5,
    })
    .map((parts) => parts.join("."));
  fc.assert(
    fc.property(fc.uniqueArray(canonical, { maxLength: 40 }), (names) => {
      const safe = renderNames(names, "safe");
      const strict = renderNames(names, "strict");
      expect(new Set(safe.values()).size).toBe(names.length);
      expect(new Set(strict.values()).size).toBe(names.length);
      for (const name of safe.values()) expect(name).toMatch(/^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/);
      for (const name of strict.values()) expect(name).toMatch(/^[a-z][a-z0-9_]{0,47}$/);
      expect(renderNames(names.toReversed(), "safe")).toEqual(safe);
    }),
  );
});

test("a__b and a.b both work in every dialect", () => {
  const safe = renderNames(["a.b", "a__b"], "safe");
  expect(safe.get("a__b")).toBe("a__b");
  expect(safe.get("a.b")).toMatch(/^a__b_[a-z0-9]{6}$/);
});
