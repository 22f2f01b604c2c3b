// Lists the functions over 70 lines and the files over 400 of the packages' sources: to look at, not a limit.
import { globSync, readFileSync } from "node:fs";
import { countLines, longest, longFunctions } from "./workbench/long-code.ts";

const isProduct = (path: string) => !/\.test\.ts$|\/testing\/|-cases\.ts$/.test(path);
const files = globSync("packages/*/src/**/*.{ts,svelte}")
  .filter(isProduct)
  .map((path) => ({ path, source: readFileSync(path, "utf8") }));

const functions = files.flatMap(({ path, source }) =>
  longFunctions(source, path.endsWith(".svelte")).map(({ name, line, lines }) => ({
    lines,
    what: `${path}:${line} ${name}`,
  })),
);
const long = files
  .map(({ path, source }) => ({ lines: countLines(source), what: path }))
  .filter(({ lines }) => lines > longest.fileLines);

function list(title: string, found: readonly { lines: number; what: string }[]): string {
  const sorted = found.toSorted((a, b) => b.lines - a.lines);
  return [
    `${title}: ${found.length}`,
    ...sorted.map(({ lines, what }) => `${String(lines).padStart(6)} ${what}`),
  ].join("\n");
}

process.stdout.write(`${list(`functions over ${longest.functionLines} lines`, functions)}\n`);
process.stdout.write(`${list(`files over ${longest.fileLines} lines`, long)}\n`);
