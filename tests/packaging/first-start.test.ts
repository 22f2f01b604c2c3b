// `npm start` on a fresh clone, with the Node that is on the machine: what it installs, and that the tests' packages
// come when they are asked for. Only for `npm run soak`: it installs everything.
import { execFileSync, spawn } from "node:child_process";
import { cpSync, globSync, lstatSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CleanMachine, cleanMachine } from "./support/clean-machine.ts";

const root = dirname(dirname(import.meta.dirname));
/** Beside Node itself. */
const bytesMax = 150_000_000;

let machine: CleanMachine;
let clone = "";

beforeAll(() => {
  machine = cleanMachine();
  clone = join(machine.home, "clone");
  const listed = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
  for (const file of execFileSync("git", listed, { cwd: root, encoding: "utf8" })
    .split("\0")
    .filter(Boolean)) {
    mkdirSync(dirname(join(clone, file)), { recursive: true });
    cpSync(join(root, file), join(clone, file));
  }
}, 120_000);

afterAll(() => machine?.remove());

/** The Node of the machine, not ours. */
const env = () => ({
  ...machine.env,
  PATH: machine.env.PATH?.replace(`${dirname(process.execPath)}:`, "") ?? "",
});

function bytesIn(folder: string): number {
  const files = globSync("**", { cwd: folder }).map((path) => lstatSync(join(folder, path)));
  return files.reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0);
}

test("`npm start` installs only what running needs, says what it does, and starts", {
  timeout: 300_000,
}, async () => {
  const child = spawn("npm", ["start", "--", "--port", "0"], { cwd: clone, env: env(), detached: true });
  const said: string[] = [];
  const ready = new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on("line", (line) => {
        said.push(line);
        if (line.includes("Ctrl-C stops the gateway")) resolve();
      });
    }
    child.once("exit", () => reject(new Error(said.join("\n"))));
  });
  try {
    await ready;
  } finally {
    process.kill(-(child.pid as number), "SIGTERM");
  }
  expect(said.filter((line) => line.startsWith("mcpx: "))).toEqual([
    expect.stringContaining("installing what running needs"),
    expect.stringMatching(/^mcpx: done in [\d.]+ s$/),
    "mcpx: building the web console…",
    expect.stringMatching(/^mcpx: done in [\d.]+ s$/),
  ]);
  const modules = join(clone, "node_modules");
  expect(bytesIn(modules) - bytesIn(join(modules, "node"))).toBeLessThan(bytesMax);
  expect(globSync("vitest", { cwd: modules })).toEqual([]);
});

test("then the tests' packages come too, and the lock file stays as it is", { timeout: 300_000 }, () => {
  const before = execFileSync("cat", ["package-lock.json", "package.json"], { cwd: clone, encoding: "utf8" });
  execFileSync("node", ["scripts/ready.mjs"], { cwd: clone, env: env(), stdio: "pipe" });
  expect(globSync("{vitest,typescript}", { cwd: join(clone, "node_modules") })).toHaveLength(2);
  expect(execFileSync("cat", ["package-lock.json", "package.json"], { cwd: clone, encoding: "utf8" })).toBe(
    before,
  );
});
