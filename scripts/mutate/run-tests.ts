// One run of vitest in a copy, and what its report says about the tests of one requirement.
import { spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

/** A file of the report; without results where the file itself could not be loaded. */
type FileReport = {
  name: string;
  status: string;
  message?: string;
  assertionResults: { title: string; fullName: string; status: string }[];
};
export type Report = { testResults: FileReport[] };

export type Outcome =
  | { kind: "red"; file: string; test: string }
  | { kind: "green"; tests: number }
  | { kind: "broken"; why: string }
  | { kind: "timed out" };

/** The longest test takes a minute; a run that takes this long will not end. */
const runMs = 240_000;

/** Runs that have not ended, by the process group of each: what its tests have started ends with it. */
const running = new Set<number>();

export function endAllRuns(): void {
  for (const group of running) process.kill(-group, "SIGKILL");
}

export async function runTests(copy: string, files: string[], title: string): Promise<Outcome> {
  const report = join(copy, "node_modules", ".cache", "report.json");
  rmSync(report, { force: true });
  const args = ["run", "--bail=1", "--maxWorkers=1", "-t", escaped(title)];
  const outputs = ["--reporter=json", `--outputFile=${report}`];
  const child = spawn(
    process.execPath,
    [join(copy, "node_modules", "vitest", "vitest.mjs"), ...args, ...outputs, ...files],
    {
      cwd: copy,
      stdio: "ignore",
      detached: true,
      env: { ...process.env, NODE_COMPILE_CACHE: join(copy, "node_modules", ".cache", "compiled") },
    },
  );
  const { pid } = child;
  if (pid !== undefined) running.add(pid);
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  }, runMs);
  await new Promise((resolve) => child.once("close", resolve).once("error", resolve));
  clearTimeout(timer);
  if (pid !== undefined) running.delete(pid);
  return isLate ? { kind: "timed out" } : outcomeOf(readReport(report), copy, title);
}

function readReport(path: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}

/** Only a test that names the requirement counts; a file that cannot be loaded shows that the edit is no fit one. */
export function outcomeOf(report: Report | undefined, copy: string, title: string): Outcome {
  if (report === undefined) return { kind: "broken", why: "vitest left no report" };
  const results = report.testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ fullName }) => fullName.includes(title))
      .map((result) => ({ file: name.replace(`${copy}/`, ""), ...result })),
  );
  const red = results.find(({ status }) => status === "failed");
  if (red) return { kind: "red", file: red.file, test: red.title };
  // A file with results of its own was loaded: what its hooks say of a run of some tests only is not the question.
  const unloaded = report.testResults.find(
    ({ status, assertionResults }) => status === "failed" && assertionResults.length === 0,
  );
  if (unloaded) return { kind: "broken", why: unloaded.message?.split("\n", 1)[0] ?? "a test file failed" };
  const tests = results.filter(({ status }) => status === "passed").length;
  return tests > 0 ? { kind: "green", tests } : { kind: "broken", why: `no test named ${title} ran` };
}

function escaped(title: string): string {
  return title.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
