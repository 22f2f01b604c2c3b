// The two gates: `check` (lint, types, dead code, unit tests) and `test` (everything CI runs). Every step runs even
// when an earlier one failed, so that one run shows all there is to mend. Those of one group run side by side. Words
// behind the gate's name pick test files, by their paths, and then nothing else is run.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { costTable, fileCosts } from "./workbench/file-costs.ts";

const scratch = mkdtempSync(join(tmpdir(), "mcpx-run-"));

/** Where each test file says what it has cost. */
const costs = join(scratch, "costs.jsonl");

/** Where the programs that the system tests start are put together, with what they import within reach. */
const programs = resolve("node_modules", ".cache", `test-programs-${process.pid}`);

/** Tests wait more than they work: two at a time for each core, and no more than memory has room for. */
const workers = `--maxWorkers=${Math.min(8, 3 * availableParallelism())}`;

const packages = [
  "protocol",
  "host",
  "client",
  "gateway",
  "aggregator",
  "devices",
  "bridges",
  "conform",
  "cli",
  "mcpx",
];

const check = [
  [
    { name: "lint", command: ["biome", "check", "."] },
    { name: "types", command: ["tsc", "--noEmit"] },
    { name: "console types", command: ["npm", "run", "--silent", "check", "-w", "@mcpx/console"] },
    // Where packages were built it would look at what was built, and judge otherwise than on a fresh clone.
    { name: "dead code", command: ["knip", "--tsConfig", "tsconfig.knip.json", "--no-config-hints"] },
    { name: "long code", command: ["node", "scripts/long-code.ts"] },
  ],
  [
    {
      name: "unit tests",
      command: ["vitest", "run", "--project", "unit", "--project", "host", workers],
      counts: true,
    },
  ],
];

const rest = [
  [{ name: "test programs", command: ["node", "tests/support/bundle-programs.ts", programs] }],
  [
    {
      name: "system tests",
      command: ["vitest", "run", "--project", "system", "--project", "in-process", workers],
      counts: true,
    },
  ],
  [{ name: "build", command: ["node", "scripts/build.mjs"] }],
  [
    { name: "console size", command: ["node", "scripts/console-size.mjs"] },
    ...packages.map((name) => ({
      name: `publint ${name}`,
      command: ["publint", `packages/${name}`, "--strict"],
    })),
    { name: "ledger", command: ["node", "scripts/spec.ts", "--strict"] },
  ],
];

async function runStep({ name, command, counts }, isAlone) {
  if (isAlone) process.stdout.write(`\n── ${name}\n`);
  const report = join(scratch, `${name.replace(" ", "-")}.json`);
  const [program, ...args] = command;
  const reporting = counts ? ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`] : [];
  const began = performance.now();
  const child = spawn(program, [...args, ...reporting], {
    // Side by side, each says what it has to say when it is done.
    stdio: ["ignore", isAlone ? "inherit" : "pipe", isAlone ? "inherit" : "pipe"],
    env: { ...process.env, ...shared(), ...(counts && { MCPX_TEST_COSTS: costs }) },
  });
  // A program that cannot be started has failed like any other.
  const ended = new Promise((resolve) => child.once("error", resolve).once("close", resolve));
  const said = isAlone ? [] : await Promise.all([text(child.stdout), text(child.stderr)]);
  const status = await ended;
  if (!isAlone) process.stdout.write(`\n── ${name}\n${said.join("")}`);
  process.stdout.write(
    `── ${name}: ${status === 0 ? "ok" : "FAILED"} (${Math.round(performance.now() - began)} ms)\n`,
  );
  if (counts) return counted(name, report, status);
  return status === 0 ? { passed: 1, failed: 0, faults: [] } : { passed: 0, failed: 1, faults: [name] };
}

/** Tests start hundreds of processes: compiled once, each costs half; also put together, a quarter. */
function shared() {
  if (!existsSync(programs)) return { NODE_COMPILE_CACHE: resolve("node_modules", ".cache", "compiled") };
  return { NODE_COMPILE_CACHE: join(programs, "compiled"), MCPX_TEST_BUNDLES: programs };
}

/** A runner that died before reporting is a failure too, and so is one that ran nothing. */
function counted(name, report, status) {
  const read = readReport(report);
  const { numPassedTests: passed, testResults } = read;
  const faults = testResults.flatMap(faultsOfFile);
  const isEmpty = passed === 0 && filters.length === 0;
  if (faults.length === 0 && (status !== 0 || isEmpty)) faults.push(`${name} ended with ${status}`);
  const told = existsSync(costs) ? readFileSync(costs, "utf8") : "";
  return { passed, failed: faults.length, faults, costs: fileCosts(read, told) };
}

function readReport(report) {
  try {
    return JSON.parse(readFileSync(report, "utf8"));
  } catch {
    return { numPassedTests: 0, testResults: [] };
  }
}

/** What counts against a test: where everything can be had, also that it was skipped. */
const isFault = ({ status }) => status === "failed" || (status !== "passed" && process.env.CI !== undefined);

/** The failed tests of a file; the file itself when it could not be run. */
function faultsOfFile({ name: file, status, message, assertionResults }) {
  const where = relative(".", file);
  const failed = assertionResults.filter(isFault);
  if (failed.length === 0) return status === "failed" ? [`${where}\n${message}`] : [];
  return failed.map(
    (test) => `${where} › ${test.fullName} (${test.status})\n${test.failureMessages.join("\n")}`,
  );
}

const [gate, ...filters] = process.argv.slice(2);

/** Without filters all of the gate; with them, the test files that they pick. */
function groupsOf(all) {
  if (filters.length === 0) return all;
  const picking = ({ command, ...step }) => ({
    ...step,
    command: [...command, ...filters, "--passWithNoTests"],
  });
  return all
    .map((group) => group.filter(({ counts }) => counts).map(picking))
    .filter(({ length }) => length > 0);
}

const began = performance.now();
const results = [];
for (const group of groupsOf(gate === "test" ? [...check, ...rest] : check)) {
  results.push(...(await Promise.all(group.map((step) => runStep(step, group.length === 1)))));
}
for (const path of [scratch, programs]) rmSync(path, { recursive: true, force: true });
if (gate === "test") {
  const paid = results.flatMap((result) => result.costs ?? []);
  process.stdout.write(`\n── the most expensive test files\n${costTable(paid)}\n`);
}
process.stdout.write(`\n── all together: ${Math.round((performance.now() - began) / 1_000)} s\n`);
const sum = (key) => results.reduce((total, result) => total + result[key], 0);
const faults = results.flatMap((result) => result.faults);
for (const fault of faults) process.stdout.write(`\n✗ ${fault.slice(0, 2_000)}\n`);
process.stdout.write(`\n${sum("passed")} passed, ${sum("failed")} failed\n`);
process.exitCode = sum("failed") === 0 && sum("passed") > 0 ? 0 : 1;
