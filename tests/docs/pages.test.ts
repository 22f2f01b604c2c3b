// The pages a newcomer reads: their links lead somewhere, the commands they name exist, and their words are those of
// the glossary.
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { commands } from "../../packages/cli/src/command-line/commands.ts";
import {
  avoidedText,
  findAvoided,
  readAvoidedWords,
  withoutAvoidedTable,
} from "../../scripts/texts/avoided-words.ts";

const root = dirname(dirname(import.meta.dirname));
const pages = ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "spec/PROTOCOL.md"].concat(
  globSync("docs/{*,tasks/*}.md", { cwd: root }).sort(),
);
const withCommands = [
  "README.md",
  "docs/COMMANDS.md",
  "docs/GLOSSARY.md",
  ...globSync("docs/tasks/*.md", { cwd: root }),
];
const plain = [...pages, "CHANGELOG.md", "spec/devices.md"].filter((page) => page !== "docs/CONFORMANCE.md");

const textOf = (page: string) => readFileSync(join(root, page), "utf8");

/** As web pages of repositories name them. */
function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

/** Links of a page that lead nowhere. */
function lostLinks(page: string, text = textOf(page)): string[] {
  const links = [...text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, link = ""]) => link);
  return links.filter((link) => {
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? page : join(dirname(page), path);
    if (!existsSync(join(root, target))) return true;
    return anchor !== undefined && !anchorsOf(textOf(target)).includes(anchor);
  });
}

test.for(pages)("%s: every link leads to a file and a heading that are there", (page) => {
  expect(lostLinks(page)).toEqual([]);
});

test("control: a link to nothing, and one to a heading that is not there, are found", () => {
  expect(anchorsOf("# A `b` c: d\n## [E](f.md)")).toEqual(["a-b-c-d", "e"]);
  const text = "[a](docs/NOTHING.md) [b](docs/GATES.md#nothing) [c](docs/GATES.md) [d](https://example.com)";
  expect(lostLinks("README.md", text)).toEqual(["docs/NOTHING.md", "docs/GATES.md#nothing"]);
});

test.for(withCommands)("%s: every command it names exists", (page) => {
  const named = [...textOf(page).matchAll(/(?:`|npx |[$~] )mcpx ([a-z][a-z-]+)/g)].map(
    ([, word = ""]) => word,
  );
  const known = new Set(["help", ...commands.map(({ name }) => name.split(" ")[0] ?? "")]);
  expect(named.length).toBeGreaterThan(2);
  expect(named.filter((word) => !known.has(word))).toEqual([]);
});

test("the page of commands has all of them", () => {
  const text = textOf("docs/COMMANDS.md");
  const words = new Set(commands.map(({ name }) => name.split(" ")[0] ?? ""));
  expect([...words].filter((word) => !new RegExp(`\\b${word}\\b`).test(text))).toEqual([]);
});

test.for(plain)("%s: has no word that the glossary avoids", (page) => {
  const lines = withoutAvoidedTable(textOf(page))
    .split("\n")
    .map((text, at) => ({ text, line: at + 1 }));
  const words = readAvoidedWords(textOf("docs/GLOSSARY.md"));
  expect(findAvoided(lines, words).map((use) => avoidedText(page, use))).toEqual([]);
});

test("the glossary has at most fifty words, each once, in order", () => {
  const words = [
    ...withoutAvoidedTable(textOf("docs/GLOSSARY.md")).matchAll(/^\| (?!word|---)([^|]+?) \|/gm),
  ].map(([, word]) => word);
  expect(words.length).toBeLessThanOrEqual(50);
  expect(words.length).toBeGreaterThan(30);
  expect(words).toEqual([...new Set(words)].sort((a, b) => String(a).localeCompare(String(b))));
});
