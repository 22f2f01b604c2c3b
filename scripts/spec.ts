// `npm run spec [-- --json | --strict | --page]`: which requirements of spec/ledger.json no test names. Fails where a
// table, a title or docs/CONFORMANCE.md is wrong; with --strict also where a requirement of a part that is built has no
// test, or its mutation is missing or no longer fits the code. --page writes docs/CONFORMANCE.md anew.
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { titlesWithoutAssertion } from "./ledger/assertions.ts";
import { conformancePage } from "./ledger/conformance-page.ts";
import { ledgerCoverage } from "./ledger/coverage.ts";
import { readLater, readMutations, readRows, readTitledFiles } from "./ledger/read-repository.ts";
import { isMutation, placeOf, tableFaults } from "./mutate/table.ts";

const root = dirname(import.meta.dirname);

function read(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

function print(lines: string[]): void {
  process.stdout.write(`${lines.join("\n")}\n`);
}

const rows = readRows(root);
const later = readLater(root);
const files = readTitledFiles(root);
const folders = globSync(["packages/*", "packages/*/src/*/", "tests/*/"], { cwd: root }).map((path) =>
  basename(path),
);
const { faults, ...coverage } = ledgerCoverage({ rows, later, folders, files });
const page = conformancePage(rows, later, coverage.missing);
const pagePath = "docs/CONFORMANCE.md";
if (process.argv.includes("--page")) writeFileSync(join(root, pagePath), page);
else if (read(pagePath) !== page)
  faults.push(`${pagePath} is not what the ledger says: npm run spec -- --page`);

const mutations = readMutations(root);
const mutationFaults = [
  ...tableFaults(rows, mutations, (part) => Object.hasOwn(later, part)),
  ...mutations.filter(isMutation).flatMap((mutation) => {
    const { id, file } = mutation;
    const place = placeOf(mutation, existsSync(join(root, file)) ? read(file) : undefined);
    return "stale" in place ? [`the mutation of ${id} in ${file} is stale: ${place.stale}`] : [];
  }),
];

if (process.argv.includes("--json")) {
  print([JSON.stringify(coverage)]);
} else {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const { total, covered, missing } = coverage;
  const waiting = coverage.later.map((id) => byId.get(id)).filter((row) => row !== undefined);
  print([
    `${covered} of ${total} requirements are named by a test.`,
    `${missing.length} missing in what is built${missing.length > 0 ? ":" : "."}`,
    ...missing.map((id) => `  ${id}  ${byId.get(id)?.text}`),
    `${waiting.length} wait for parts that are not built (spec/later.json)${waiting.length > 0 ? ":" : "."}`,
    ...waiting.map(({ id, part, text }) => `  ${id}  (${part}) ${text}`),
    ...mutationFaults,
    ...files.flatMap((file) =>
      titlesWithoutAssertion(file).map((title) => `asserts nothing, it seems: ${file.path} ${title}`),
    ),
  ]);
}

for (const fault of faults) process.stderr.write(`spec: ${fault}\n`);
const isIncomplete =
  process.argv.includes("--strict") && (coverage.missing.length > 0 || mutationFaults.length > 0);
if (faults.length > 0 || isIncomplete) process.exitCode = 1;
