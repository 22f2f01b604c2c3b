// `npm run steady -- N [FILTER…]`: is `npm test` green N times in a row? Each run is in a fresh clone of the last commit,
// which installs its own packages as CI does; every other run shares the machine with a busy loop on one core. Prints
// each run's time and each failing test with its seed and the log of its run; fails if one failed. With filters only the
// test files whose path contains one of them are run. Not part of CI.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readRun } from "./workbench/read-run.ts";

const root = join(import.meta.dirname, "..");
const [given = "10", ...filters] = process.argv.slice(2);
const count = Number(given);
if (!Number.isInteger(count) || count < 1) {
  process.stderr.write(`steady: invalid number of runs "${given}"; e.g. npm run steady -- 10\n`);
  process.exit(2);
}

const dir = mkdtempSync(join(tmpdir(), "mcpx-steady-"));
const print = (line: string) => process.stdout.write(`${line}\n`);
let busy: ChildProcess | undefined;
process.on("exit", () => busy?.kill("SIGKILL"));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

function git(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync("git", args, { cwd: root, encoding: "utf8" });
  if (status !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}`);
  return stdout.trim();
}

async function npmTest(clone: string, log: string): Promise<number | null> {
  const out = openSync(log, "w");
  const child = spawn("npm", ["test", "--", ...filters], {
    cwd: clone,
    env: { ...process.env, CI: "true" },
    stdio: ["ignore", out, out],
  });
  const [status] = await once(child, "exit");
  closeSync(out);
  return status;
}

/** Whether all was green. */
async function run(number: number): Promise<boolean> {
  const clone = join(dir, `run-${number}`);
  const log = join(dir, `run-${number}.log`);
  git("clone", "--quiet", root, clone);
  const isBusy = number % 2 === 0;
  if (isBusy) busy = spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" });
  const began = performance.now();
  const status = await npmTest(clone, log);
  const seconds = Math.round((performance.now() - began) / 1_000);
  busy?.kill("SIGKILL");
  busy = undefined;
  rmSync(clone, { recursive: true, force: true });
  const result = readRun(readFileSync(log, "utf8"));
  const isGreen = status === 0 && result !== undefined && result.failed === 0;
  const beside = isBusy ? ", beside a busy loop" : "";
  const said =
    result === undefined ? `ended with ${status}` : `${result.passed} passed, ${result.failed} failed`;
  print(`run ${number} of ${count}: ${isGreen ? "green" : "RED"} in ${seconds} s${beside}: ${said}; ${log}`);
  for (const { name, seed } of result?.faults ?? []) {
    print(`  ✗ ${name}${seed === undefined ? "" : `, seed ${seed}`}`);
  }
  return isGreen;
}

print(`steady: ${count} runs of ${git("log", "-1", "--format=%h %s")}`);
if (git("status", "--porcelain") !== "") print("steady: changes that are not committed are not in it");
let green = 0;
for (let number = 1; number <= count; number += 1) if (await run(number)) green += 1;
print(`steady: ${green} of ${count} green; logs in ${dir}`);
process.exitCode = green === count ? 0 : 1;
