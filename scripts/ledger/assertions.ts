// Titles that name a requirement while their test asserts nothing, by a look at the text: a hint for people, no proof. A
// test asserts by `expect` or `assert`, by a function of its file that does, or by one whose name says that it does.
import { type TestFile, titledCallsOf } from "./titles.ts";

const asserting =
  /\b(?:expect|assert)\b|\b(?:expect|assert|check|play|verify|refused|judge)[A-Z]?\w*\(|\.check\(/;

/** The titles, as they stand in the file. Transcripts are played by a player that compares every line. */
export function titlesWithoutAssertion(file: TestFile): string[] {
  if (!file.path.endsWith(".ts")) return [];
  const helpers = assertingFunctions(file.text);
  const isAsserting = (body: string) =>
    asserting.test(body) || helpers.some((name) => new RegExp(`\\b${name}\\b`).test(body));
  return titledCallsOf(file)
    .filter(({ body }) => !isAsserting(body))
    .map(({ title }) => title);
}

/** Where a function begins: at the top level, or named inside a `describe`. */
const beginnings = [
  {
    split: /^(?=(?:export )?(?:async )?(?:function|const) )/m,
    name: /^(?:export )?(?:async )?(?:function|const) (\w+)/,
  },
  { split: /^(?=\s+(?:async )?function )/m, name: /^\s+(?:async )?function (\w+)/ },
];

/** Functions of a file in which something is asserted, and those that call them. */
function assertingFunctions(text: string): string[] {
  const pieces = beginnings.flatMap(({ split, name }) =>
    text.split(split).flatMap((body) => {
      const named = name.exec(body)?.[1];
      return named === undefined ? [] : [{ name: named, body }];
    }),
  );
  const names = new Set<string>();
  const isAsserting = (body: string) =>
    asserting.test(body) || [...names].some((known) => new RegExp(`\\b${known}\\(`).test(body));
  for (let before = -1; before !== names.size; ) {
    before = names.size;
    for (const { name, body } of pieces) if (isAsserting(body)) names.add(name);
  }
  return [...names];
}
