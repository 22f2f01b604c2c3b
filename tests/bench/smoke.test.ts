// Every bench is started as small as it can be: it ends well, and says what it measured in the form the others are read
// in. What it measured means nothing here.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..", "..");
const bench = ["--conditions=mcpx-source", "--expose-gc", "bench/run.ts"];
/** Some start a browser, others a dozen processes. */
const patienceMs = 180_000;

function benchNames(): string[] {
  const { stderr, status } = spawnSync(process.execPath, bench, { cwd: root, encoding: "utf8" });
  expect(status).toBe(2);
  return /name one of ([a-z, -]+);/.exec(stderr)?.[1]?.split(", ") ?? [];
}

/** Where a report holds no number, as JSON shows NaN and Infinity. */
function notNumbers(value: unknown, path = ""): string[] {
  if (value === null) return [path];
  if (typeof value !== "object") return [];
  return Object.entries(value).flatMap(([name, each]) => notNumbers(each, `${path}/${name}`));
}

async function run(name: string): Promise<{ status: unknown; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [...bench, name, "--json", "--smoke"], { cwd: root });
  const [stdout, stderr, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "exit"),
  ]);
  return { status, stdout, stderr };
}

const names = benchNames();

test("there are benches, and control: what is no number is found", () => {
  expect(names).toContain("guard");
  expect(names.length).toBeGreaterThan(10);
  const report = JSON.parse(JSON.stringify({ a: { b: Number.NaN }, c: [1, 1 / 0], d: 1 }));
  expect(notNumbers(report)).toEqual(["/a/b", "/c/1"]);
});

test.each(names)(
  "bench -- %s runs to its end and prints finite figures",
  async (name) => {
    const { status, stdout, stderr } = await run(name);
    expect(status, stderr).toBe(0);
    const report = JSON.parse(stdout);
    expect(report).toEqual({
      name,
      machine: expect.any(String),
      node: process.version,
      results: expect.any(Object),
    });
    expect(JSON.stringify(report.results)).toMatch(/:-?\d/);
    expect(notNumbers(report)).toEqual([]);
  },
  patienceMs,
);
