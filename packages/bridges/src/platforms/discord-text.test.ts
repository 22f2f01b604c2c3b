import fc from "fast-check";
import { expect, test } from "vitest";
import { discordMessage, escaped, heardText } from "./discord-text.ts";

test("markup is escaped, addresses stay addresses without a preview", () => {
  expect(escaped("*a* @everyone <@1> `x` ||y||")).toBe(
    "\\*a\\* \\@everyone \\<\\@1\\> \\`x\\` \\|\\|y\\|\\|",
  );
  expect(escaped("see https://e.org/a_b_c, or [x](http://e)")).toBe(
    "see <https://e.org/a_b_c>, or \\[x\\]\\(<http://e>\\)",
  );
  expect(escaped("1. one\n# two\n- three")).toBe("1\\. one\n\\# two\n\\- three");
});

test("without addresses, taking the backslashes away gives the text again", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary-ascii" }), (text) => {
      fc.pre(!text.includes("://"));
      expect(escaped(text).replace(/\\([^0-9A-Za-z\s])/g, "$1")).toBe(text);
    }),
  );
});

test("what would end a block of code is shown as text, and what is too long has a place of its own", () => {
  const code = (text: string) => discordMessage({ parts: [{ kind: "code", text }], buttons: [] });
  expect(code("let a").content).toBe("```\nlet a\n```");
  expect(code("```\n@everyone").content).toBe("\\`\\`\\`\n\\@everyone");
  const long = discordMessage({ parts: [{ kind: "text", text: "*".repeat(1_900) }], buttons: [] });
  expect(long.content).toBe("");
  expect(long.embeds[0]?.description).toHaveLength(3_800);
});

test("what a person wrote on Discord is read as they saw it", () => {
  const names = new Map([["1", "carol"]]);
  expect(heardText("<@1> <@!2> <@&3> <#4> <:wave:5> <a:dance:6> **x**", names)).toBe(
    "@carol @2 @3 #4 :wave: :dance: **x**",
  );
});
