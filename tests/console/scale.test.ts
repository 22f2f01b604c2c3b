// One type scale, one spacing scale, one colour for each meaning: what a view writes by itself is found here, and what
// could not be read on its ground, in the light and in the dark.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../../packages/console/src");
const scale = readFileSync(join(root, "scale.css"), "utf8");
const colour = /#[0-9a-f]{3,8}\b|\b(?:rgb|hsl|oklch|oklab|lch|lab)a?\(|light-dark\(/i;
const length = /(?<![\w.-])-?\d*\.?\d+(?:px|rem|pt|cm|vh|vw)\b/;
const mayHaveLengths =
  /^(?:(?:min-|max-)?(?:width|height)|flex(?:-basis)?|grid-template-\w+|columns|inset|top|bottom|left|right)$/;
/** Where a view becomes another, by its width or height. */
const breakpoints = ["34rem", "40rem", "46rem", "48rem", "64rem", "64.01rem"];

test("no view has a colour, a distance or a size of text of its own", () => {
  const files = readdirSync(root, { recursive: true, encoding: "utf8" });
  const styled = files.filter((file) => /\.svelte$|(?<!scale)\.css$/.test(file));
  expect(styled.length).toBeGreaterThan(60);
  expect(styled.flatMap((file) => strays(file, readFileSync(join(root, file), "utf8")))).toEqual([]);
});

test("the control: what a view would write by itself is found", () => {
  const found = (css: string) => strays("view.css", `p {\n  ${css};\n}\n`);
  for (const css of [
    "color: #333",
    "background: rgb(1 2 3)",
    "padding: 0.6rem",
    "margin: 0 3px",
    "font-size: 12px",
    "font: 600 0.8rem / 1 serif",
    "border: 2px solid var(--line)",
    "width: 12px",
    "color: red",
    "margin: var(--space-9)",
  ]) {
    expect([css, found(css).length]).toEqual([css, 1]);
  }
  expect(strays("view.css", "@media (max-width: 47rem) {\n}\n")).toHaveLength(1);
  expect(found("padding: var(--space-1) 0")).toEqual([]);
  expect(found("width: min(20rem, 100%)")).toEqual([]);
});

test("one colour has one meaning, and what is read can be read on its ground in both themes", () => {
  const colours = new Map(
    [...scale.matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\);/g)].map(([, name = "", ...both]) => [
      name,
      both,
    ]),
  );
  const meanings = [...colours].filter(([name]) => !["on-accent", "raised"].includes(name));
  const lights = meanings.map(([, [light]]) => light);
  expect(lights.filter((one, at) => lights.indexOf(one) !== at)).toEqual([]);
  const grounds = ["ground", "card", "raised"];
  const pairs = [
    ...["ink", "soft", "accent", "good", "bad", "odd"].flatMap((text) =>
      grounds.map((ground) => [text, ground]),
    ),
    ...["accent", "good", "bad", "odd"].flatMap((tone) => [
      [tone, `${tone}-ground`],
      ["ink", `${tone}-ground`],
      ["soft", `${tone}-ground`],
    ]),
    ["on-accent", "accent"],
    ["on-accent", "bad"],
    ...[...colours.keys()].filter((name) => name.startsWith("who-")).map((name) => ["card", name]),
  ];
  expect(pairs.length).toBeGreaterThan(40);
  const contrasts = pairs.flatMap(([text = "", ground = ""]) =>
    [0, 1].map((theme) => ({
      pair: `${text} on ${ground}, ${theme === 0 ? "light" : "dark"}`,
      contrast: contrastOf(colours.get(text)?.[theme] ?? "", colours.get(ground)?.[theme] ?? ""),
    })),
  );
  expect(contrasts.filter(({ contrast }) => !(contrast >= 4.5))).toEqual([]);
  // The control.
  expect(contrastOf("#777777", "#888888")).toBeLessThan(4.5);
  expect(contrastOf("#000000", "#ffffff")).toBeCloseTo(21);
});

function strays(file: string, text: string): string[] {
  const css = file.endsWith(".css") ? text : (/<style>(.*?)<\/style>/s.exec(text)?.[1] ?? "");
  const plain = css.replaceAll(/\/\*.*?\*\//gs, "");
  const widths = [...plain.matchAll(/@media[^{]*/g)].flatMap(
    ([query]) => query.match(/[\d.]+(?:rem|px|em)/g) ?? [],
  );
  const declared = [...plain.matchAll(/^\s*([a-z-]+):\s*([^;{}]+);/gm)].filter(([, name = "", value = ""]) =>
    isStray(name, value),
  );
  return [
    ...widths.filter((width) => !breakpoints.includes(width)).map((width) => `${file}: breakpoint ${width}`),
    ...declared.map(([, name, value]) => `${file}: ${name}: ${value}`),
  ];
}

function isStray(name: string, value: string): boolean {
  if (colour.test(value) || /\d(?:px|pt)\b/.test(value)) return true;
  if (
    /(?:^|-)(?:color|background)$/.test(name) &&
    !/var\(|^(?:none|inherit|transparent|currentColor)$/.test(value)
  )
    return true;
  const unknown = [...value.matchAll(/var\(--([\w-]+)/g)].some(
    ([, one]) => one !== "row" && !scale.includes(`--${one}:`),
  );
  return unknown || (!mayHaveLengths.test(name) && length.test(value));
}

function contrastOf(one: string, other: string): number {
  const [dark = 0, light = 0] = [lightness(one), lightness(other)].toSorted((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

/** Relative luminance, WCAG 2. */
function lightness(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
