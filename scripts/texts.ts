// `npm run texts [-- WORD…] [--kind error,log,output,help,label,text] [--json]`: every text that a person can see, by
// package and file, to be read from the beginning to the end. Words choose files, by their paths.
import { dirname } from "node:path";
import { parseArgs } from "node:util";
import { type FileTexts, readTexts } from "./texts/read-texts.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { kind: { type: "string" }, json: { type: "boolean", default: false } },
});
const kinds = values.kind?.split(",");

const files = readTexts(dirname(import.meta.dirname))
  .filter(({ path }) => positionals.every((word) => path.includes(word)))
  .map(({ path, texts }) => ({
    path,
    texts: texts.filter(({ kind }) => kinds === undefined || kinds.includes(kind)),
  }))
  .filter(({ texts }) => texts.length > 0);

const countOf = (some: readonly FileTexts[]) => some.reduce((sum, { texts }) => sum + texts.length, 0);

function linesOf({ path, texts }: FileTexts): string[] {
  const seen = new Set<string>();
  const once = texts.filter(({ kind, text }) => !seen.has(`${kind} ${text}`) && seen.add(`${kind} ${text}`));
  return [
    `  ${path.split("/").slice(3).join("/")}`,
    ...once.map(({ line, kind, text }) => `${String(line).padStart(6)} ${kind.padEnd(6)} ${text}`),
  ];
}

if (values.json) process.stdout.write(`${JSON.stringify(files, undefined, 2)}\n`);
else {
  const packages = Map.groupBy(files, ({ path }) => path.split("/")[1] ?? "");
  for (const [name, some] of packages) {
    process.stdout.write(`${name}: ${countOf(some)} texts\n${some.flatMap(linesOf).join("\n")}\n\n`);
  }
  process.stdout.write(`${countOf(files)} texts in ${files.length} files\n`);
}
