import fc from "fast-check";
import { expect, test } from "vitest";
import { aliasNames } from "./alias-names.ts";
import { renderName, renderNames } from "./dialects.ts";
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

const canonicalName = fc
  .array(fc.string({ unit: fc.constantFrom(..."ab_-9"), minLength: 1, maxLength: 30 }), {
    minLength: 1,
    maxLength: 5,
  })
  .map((parts) => parts.join("."));

test("[B-CLIENT-2] a dialect renders every name its own way, in its alphabet, with room for a client's prefix", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.oneof(canonicalName, anyName), { maxLength: 40 }), (names) => {
      const safe = renderNames(names, "safe");
      const strict = renderNames(names, "strict");
      expect(new Set(safe.values()).size).toBe(names.length);
      expect(new Set(strict.values()).size).toBe(names.length);
      for (const name of safe.values()) {
        expect(`mcp__mcpx__${name}`).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
        expect(name).toMatch(/^[a-zA-Z]/);
      }
      for (const name of strict.values()) expect(name).toMatch(/^[a-z][a-z0-9_]{0,47}$/);
      expect(renderNames(names.toReversed(), "safe")).toEqual(safe);
    }),
  );
});

test("[B-CLIENT-2] what a name is rendered as does not depend on the names beside it", () => {
  fc.assert(
    fc.property(fc.uniqueArray(canonicalName, { maxLength: 40 }), (names) => {
      for (const [name, rendered] of renderNames(names, "safe"))
        expect(rendered).toBe(renderName(name, "safe"));
    }),
  );
});

test.each([
  ["papers.look", "papers__look"],
  ["get-weather", "get-weather"],
  ["getWeather", "getWeather"],
  ["mcpax.wait", "mcpax__wait"],
  ["a__b", /^a__b_[a-z0-9]{6}$/],
  ["a_.b", /^a___b_[a-z0-9]{6}$/],
  ["a._b", /^a___b_[a-z0-9]{6}$/],
  ["3d.print", /^t_3d__print_[a-z0-9]{6}$/],
  ["🦊", /^t____[a-z0-9]{6}$/],
  [`s.${"x".repeat(200)}`, /^s__x{43}_[a-z0-9]{6}$/],
])("[B-CLIENT-2] %s is shown as %s", (name, shown) => {
  expect(renderName(name, "safe")).toMatch(shown instanceof RegExp ? shown : new RegExp(`^${shown}$`));
});

test("names that differ only in what strict leaves out are told apart by marks", () => {
  const strict = renderNames(["s.read-file", "s.read_file"], "strict");
  expect([...strict.values()].every((name) => /^s__read_file_[a-z0-9]{6}$/.test(name))).toBe(true);
  expect(new Set(strict.values()).size).toBe(2);
});
