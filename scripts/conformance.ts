// Runs the public conformance suite on every cell and prints a table, or with --json
// `[{cell, revision, passed, total, failed}]`. `--cell NAME` picks cells. Fails when a cell is below its expectation.
import { parseArgs } from "node:util";
import { type Cell, cells, runCell, shortfall } from "../tests/conformance/cells.ts";
import type { SuiteResult } from "../tests/conformance/run-suite.ts";

const { values } = parseArgs({
  options: { json: { type: "boolean", default: false }, cell: { type: "string", multiple: true } },
});

const chosen = cells.filter(({ name }) => values.cell?.includes(name) ?? true);
if (chosen.length === 0) {
  process.stderr.write(
    `mcpx: no such cell; there are ${[...new Set(cells.map(({ name }) => name))].join(", ")}\n`,
  );
  process.exit(2);
}

const rows: { cell: Cell; result: SuiteResult }[] = [];
for (const cell of chosen) {
  const result = await runCell(cell);
  rows.push({ cell, result });
  if (!values.json) process.stdout.write(`${line(cell, result)}\n`);
  if (shortfall(cell, result) !== undefined) process.exitCode = 1;
}

if (values.json) {
  const report = rows.map(({ cell, result: { passed, total, failed } }) => ({
    cell: cell.name,
    revision: cell.revision,
    passed,
    total,
    failed,
  }));
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
}

function line(cell: Cell, result: SuiteResult): string {
  const wrong = shortfall(cell, result);
  const { unscored, warnings } = result;
  const score = `${result.passed}/${result.total}`.padStart(6);
  const beside = `unscored ${unscored.passed}/${unscored.total}, warnings in ${warnings.length}`;
  const head = `${wrong ? "FAILED" : "ok    "} ${cell.name.padEnd(32)} ${cell.revision} ${score}  (${beside})`;
  return wrong ? `${head}\n  ${wrong}` : head;
}
