// What people read of the program itself: its words are those of the glossary.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { avoidedText, findAvoided, readAvoidedWords } from "../../scripts/texts/avoided-words.ts";
import { readTexts } from "../../scripts/texts/read-texts.ts";

const root = dirname(dirname(import.meta.dirname));
const words = readAvoidedWords(readFileSync(join(root, "docs", "GLOSSARY.md"), "utf8"));
const files = readTexts(root);

/** Its sentences are a part of what approvers of earlier builds have signed: no word of them may change. */
const signedWords = "packages/aggregator/src/gates/chain/change-words.ts";

test("no message, log line, help, label or page has a word that the glossary avoids", () => {
  expect(words.length).toBeGreaterThan(5);
  const uses = files
    .filter(({ path }) => path !== signedWords)
    .flatMap(({ path, texts }) => findAvoided(texts, words).map((use) => avoidedText(path, use)));
  expect(uses).toEqual([]);
});

test("every package has texts, of every kind that its users see", () => {
  const kindsOf = (name: string) =>
    new Set(
      files
        .filter(({ path }) => path.startsWith(`packages/${name}/`))
        .flatMap(({ texts }) => texts.map(({ kind }) => kind)),
    );
  expect([...kindsOf("cli")].sort()).toEqual(["error", "help", "log", "output", "text"]);
  expect([...kindsOf("console")]).toContain("label");
  for (const name of ["aggregator", "gateway", "host"]) expect([...kindsOf(name)]).toContain("log");
  for (const name of ["bridges", "client", "devices", "protocol"])
    expect([...kindsOf(name)]).toContain("error");
});
