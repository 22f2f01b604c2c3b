// `npm run spec [-- --json]`: which requirements of spec/ledger.json no test names yet. Fails on titles that name an
// id the ledger does not have; with --strict also where something is missing in what is built.
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type LedgerRow, ledgerCoverage } from "./ledger-coverage.ts";

const root = dirname(import.meta.dirname);
const titled = ["{packages,tests,scripts}/**/*{.test,-cases}.ts", "tests/transcripts/*.txt"];

function read(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

function print(lines: string[]): void {
  process.stdout.write(`${lines.join("\n")}\n`);
}

const rows: LedgerRow[] = JSON.parse(read("spec/ledger.json"));
const built: string[] = JSON.parse(read("spec/built.json"));
const paths = globSync(titled, { cwd: root, exclude: ["**/node_modules", "**/dist"] }).sort();
const files = paths.map((path) => ({ path, text: read(path) }));
const { unknown, ...coverage } = ledgerCoverage(rows, built, files);

if (process.argv.includes("--json")) {
  print([JSON.stringify(coverage)]);
} else {
  const { total, covered, missing, later } = coverage;
  const texts = new Map(rows.map(({ id, text }) => [id, text]));
  print([
    `${covered} of ${total} requirements are named by a test; ${later.length} wait for parts not built yet.`,
    `${missing.length} missing in what is built (${built.join(", ")})${missing.length > 0 ? ":" : "."}`,
    ...missing.map((id) => `  ${id}  ${texts.get(id)}`),
  ]);
}

for (const { id, path } of unknown)
  process.stderr.write(`spec: ${path} names [${id}], which is not in the ledger\n`);
const isIncomplete = process.argv.includes("--strict") && coverage.missing.length > 0;
if (unknown.length > 0 || isIncomplete) process.exitCode = 1;
