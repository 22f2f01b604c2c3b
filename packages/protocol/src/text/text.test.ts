import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hiddenIn, hiddenText, isSmuggling, spelledOut, visible, visibleJson } from "./hidden.ts";
import { imitationsAmong, isRightToLeft, looksLike, mixedWords, suspicionOf } from "./look-alike.ts";
import { visibleText } from "./visible-text.ts";
import { definitionWarnings, isDefinitionSmuggling, valueWarnings } from "./warnings.ts";

const shown = (text: string) =>
  visibleText(text)
    .map(({ text: own, mark }) => (mark === undefined ? own : `<${mark}>`))
    .join("");

test.each([
  ["plain text, ünïcödé, 漢字, שלום, مرحبا, 👍", "plain text, ünïcödé, 漢字, שלום, مرحبا, 👍"],
  ["photo\u202egpj.exe", "photo<U+202E>gpj.exe"],
  ["a\u2066b\u2069c\u200f\u061c", "a<U+2066>b<U+2069>c<U+200F><U+061C>"],
  ["zero\u200bwidth\ufeff\u2060\u00ad", "zero<U+200B>width<U+FEFF><U+2060><U+00AD>"],
  ["\u001b[2Jnul\u0000\u0085\u009b\u007f", "<U+001B>[2Jnul<U+0000><U+0085><U+009B><U+007F>"],
  ["a\nb\tc\rd", "a<↵>b<⇥>c<␍>d"],
  ["no\u00a0break\u2003em\u3000\u2028", "no<U+00A0>break<U+2003>em<U+3000><U+2028>"],
  ["\u{e0041}\u{e0061}\ufe0f\u3164\u2800", "<U+E0041><U+E0061><U+FE0F><U+3164><U+2800>"],
  ["\u034f\u115f\u1160\uffa0\u180e\ufffc", "<U+034F><U+115F><U+1160><U+FFA0><U+180E><U+FFFC>"],
  ["half \ud800 char", "half <U+D800> char"],
  ["private \ue000", "private <U+E000>"],
  ["z\u0301\u0302\u0303\u0304\u0305", "z\u0301\u0302\u0303<U+0304><U+0305>"],
])("what would hide is named: %j", (text, expected) => {
  expect(shown(text)).toBe(expected);
});

test("emoji that Unicode recommends stay whole; their joiners, selectors and tags alone do not", () => {
  for (const emoji of [
    "👩‍💻",
    "❤️",
    "1️⃣",
    "👨‍👩‍👧‍👦",
    "🏳️‍🌈",
    "👍🏽",
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
  ]) {
    expect(shown(emoji)).toBe(emoji);
    expect(visible(`a ${emoji} b`)).toBe(`a ${emoji} b`);
  }
  expect(shown("a\u200db")).toBe("a<U+200D>b");
  expect(shown("👩\u200d\u200d💻")).toBe("👩<U+200D><U+200D>💻");
  expect(shown("👍\ufe0f\ufe0e")).toBe("👍<U+FE0F><U+FE0E>");
  expect(shown("🏴\u{e0068}\u{e0069}\u{e007f}")).toBe("🏴<U+E0068><U+E0069><U+E007F>");
});

describe("for every text of Unicode", () => {
  const anyText = fc.string({ unit: "binary", maxLength: 200 });
  const odd = fc.constantFrom(
    ..."\u200b\u200d\u202e\u2066\ufe0f\u3164\u2800\u034f\u009b\u001b\u00ad\u0301\u00a0\u2028\ud800\udc00\n\t\r a👩💻",
    "\u{e0041}",
    "👩‍💻",
    '"',
    "\\",
  );
  const anything = fc.oneof(
    anyText,
    fc.array(odd).map((chars) => chars.join("")),
  );
  const withoutEmoji = (text: string) => text.replace(/\p{RGI_Emoji}/gv, "");
  const hides =
    /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\u2800]|(?! )\p{Zs}/u;

  test("the parts are the text, and none without a mark hides anything", () => {
    fc.assert(
      fc.property(anything, (text) => {
        const parts = visibleText(text);
        expect(parts.map((part) => part.text).join("")).toBe(text);
        for (const part of parts) {
          expect(text.startsWith(part.text, part.at)).toBe(true);
          if (part.mark === undefined) expect(withoutEmoji(part.text)).not.toMatch(hides);
        }
      }),
    );
  });

  test("a terminal gets no control, no direction and nothing invisible", () => {
    fc.assert(
      fc.property(anything, (text) => {
        for (const safe of [visible(text), spelledOut(text), visibleJson(JSON.stringify(text))]) {
          expect(withoutEmoji(safe)).not.toMatch(hides);
        }
      }),
    );
  });

  test("JSON parses back to the same value", () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: "binary" }), anything, (value, text) => {
        const given = { value, [text]: text };
        expect(JSON.parse(visibleJson(JSON.stringify(given)))).toEqual(JSON.parse(JSON.stringify(given)));
        expect(JSON.parse(visibleJson(JSON.stringify(given, null, "\t")))).toEqual(
          JSON.parse(JSON.stringify(given)),
        );
      }),
    );
  });

  test("plain text stays as it is", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme-ascii" }), (text) => {
        expect(visible(text)).toBe(text);
        expect(hiddenIn(text)).toEqual([]);
      }),
    );
  });
});

test("no character that hides or steers is passed on, of all there are", () => {
  for (let code = 0; code <= 0x10ffff; code += 1) {
    const char = String.fromCodePoint(code);
    const isHidden = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Zl}\p{Zp}]/u.test(char);
    if (isHidden && visible(`a${char}b`).includes(char) && char !== "\t" && char !== "\n") {
      throw new Error(`U+${code.toString(16)} is passed on`);
    }
  }
});

test("line ends cannot make a second line, and JSON is one line", () => {
  expect(visible("one\ntwo\r\nthree\rfour\tfive")).toBe("one ⏎ two ⏎ three\\u000dfour five");
  expect(spelledOut("a\tb\n")).toBe("a\\u0009b\\u000a");
  expect(visibleJson('{\n  "a": "x\u009b\u202ey"\r\n}')).toMatch(/^[ -~]*$/);
});

test("what hides is told with its place and its kind", () => {
  const hidden = hiddenIn("a\u200bb\u202ec\u{e0041}\nd\u00a0e");
  expect(hidden).toEqual([
    { at: 1, code: 0x200b, kind: "zero-width" },
    { at: 3, code: 0x202e, kind: "direction control" },
    { at: 5, code: 0xe0041, kind: "tag" },
  ]);
  expect(hiddenText(hidden)).toBe(
    "3 hidden characters: U+200B (zero-width) at 1, U+202E (direction control) at 3, U+E0041 (tag) at 5",
  );
  expect(hiddenText(hiddenIn("\u0000".repeat(7)))).toMatch(/^7 hidden .* at 4, and 2 more$/);
  expect(hiddenText([])).toBeUndefined();
  const kinds = "\u034f\u200f\ufe0f\u2028\u009b\ue000\u3164";
  expect(hiddenIn(kinds).map(({ kind }) => kind)).toEqual([
    "filler",
    "direction mark",
    "variation selector",
    "line separator",
    "control",
    "no character",
    "filler",
  ]);
  expect(hiddenIn("e\u0301\u0301\u0301\u0301")).toEqual([{ at: 4, code: 0x301, kind: "heaped accent" }]);
});

test.each([
  ["tags", "reads\u{e0069}\u{e0067}", true],
  ["an override", "safe\u202eexe", true],
  ["an embedding", "\u202bx\u202c", true],
  ["an isolate", "\u2066x\u2069", true],
  ["bytes in variation selectors", `🙂${"\ufe01\ufe02\u{e0101}\ufe03"}`, true],
  ["bits in zero-width characters", "a\u200b\u200c\u200b\u200cb", true],
  [
    "bytes strewn among letters",
    [..."reads a file"].map((char) => `${char}\u{e0141}\u{e0142}`).join(""),
    true,
  ],
  ["bits strewn among letters", [..."reads a file"].map((char) => `${char}\u2060`).join(""), true],
  ["a few zero-width spaces in a long name", "a\u200bb\u200bc\u200bd\u200be", false],
  ["keycaps and other emoji in a row", "1️⃣ 2️⃣ 3️⃣ 4️⃣ 5️⃣ 6️⃣ 7️⃣ 8️⃣ 9️⃣ ❤️ ✅ ☑️ ℹ️", false],
  ["joiners where scripts want them", "می\u200cخواهم می\u200cروم می\u200cگویم ".repeat(9), false],
  ["a byte order mark", "\ufeffreads", false],
  ["a soft hyphen here and there", "re\u00adads a di\u00adrec\u00adto\u00adry", false],
  ["a Persian word", "می\u200cخواهم", false],
  ["a Hebrew text with a mark", "שלום\u200f!", false],
  ["an escape sequence", "\u001b[31mred", false],
  ["the flag of England", "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}", false],
])("%s: smuggled or not", (_, text, isSmuggled) => {
  expect(isSmuggling(text)).toBe(isSmuggled);
});

test.each([
  ["аnna", "mixes alphabets"],
  ["Αnna", "mixes alphabets"],
  ["боб", "Cyrillic letters"],
  ["ann\u200ba", "cannot be seen"],
  ["ａｎｎａ", "plain letters"],
])("%s could be taken for another", (name, why) => {
  expect(suspicionOf(name)).toContain(why);
});

test("ordinary names are not suspected", () => {
  for (const name of ["anna", "root@console.a1b2", "Zoë", "demo-agent/7"])
    expect(suspicionOf(name)).toBeUndefined();
});

test.each([
  ["раураl", "paypal"],
  ["ѕсоре", "scope"],
  ["adrnin", "admin"],
  ["Adrnin", "admin"],
  ["f1le", "flle"],
  ["g00gle", "google"],
  ["ann\u200ba", "anna"],
  ["ａｎｎａ", "anna"],
  ["FiIe", "File"],
])("%s looks like %s", (name, other) => {
  expect(looksLike(name, ["nobody", other])).toBe(other);
});

test("names that differ to the eye do not look alike", () => {
  expect(looksLike("read_file", ["read_files", "write_file", "read_file", "mail", "mall"])).toBeUndefined();
  expect(looksLike("mail", ["mall"])).toBeUndefined();
  expect(imitationsAmong(["anna", "bob", "аnna", "anna"])).toEqual(new Map([["аnna", "anna"]]));
});

test("words that mix alphabets are found, letters of science are not", () => {
  expect(mixedWords("pay with pаypal, not paypal")).toEqual(["pаypal"]);
  expect(mixedWords("waits 5 μs, Δt, привет world")).toEqual([]);
  expect([isRightToLeft("שלום"), isRightToLeft("hello")]).toEqual([true, false]);
});

test("a definition is read whole, keys and all", () => {
  const clean = {
    name: "read",
    description: "Reads a file.\n\nUse ❤️ and\u00a0care.",
    inputSchema: { type: "object", properties: { path: { type: "string" } } },
  };
  expect(definitionWarnings(clean)).toEqual([]);
  expect(isDefinitionSmuggling(clean)).toBe(false);
  const properties = { "pa\u200bth": { description: "a\u{e0041}" } };
  const hiding = { ...clean, title: "Rеad", inputSchema: { properties } };
  expect(definitionWarnings(hiding)).toEqual([
    expect.stringMatching(/^a name in inputSchema\.properties contains 1 hidden character: U\+200B/),
    expect.stringMatching(
      /^inputSchema\.properties\.pa\\u200bth\.description contains .*U\+E0041 \(tag\) at 1$/,
    ),
    "title: this name mixes alphabets: Latin and Cyrillic",
  ]);
  expect(isDefinitionSmuggling(hiding)).toBe(true);
  const deep = JSON.parse(`${'{"a":'.repeat(50_000)}"\u{e0041}"${"}".repeat(50_000)}`);
  expect(() => isDefinitionSmuggling(deep)).not.toThrow();
});

test("arguments are warned of where they hide something", () => {
  expect(valueWarnings({ path: "/tmp" }, "the arguments")).toEqual([]);
  expect(valueWarnings({ path: "a\u202eb" }, "the arguments")).toEqual([
    "the arguments contain 1 hidden character: U+202E (direction control) at 10",
  ]);
});
