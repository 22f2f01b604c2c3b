// `npm run mutate` on a project of its own: what its tests notice is killed, what they do not is not.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

const repository = dirname(dirname(import.meta.dirname));

function project(files: Record<string, unknown>): string {
  const root = mkdtempSync(join(tmpdir(), "mcpx-mutated-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  symlinkSync(join(repository, "node_modules"), join(root, "node_modules"));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), typeof content === "string" ? content : JSON.stringify(content));
  }
  return root;
}

const source =
  "export const isLess = (a: number, b: number) => a < b;\nexport const isOne = (a: number) => a === 1;\n";
const tests = `
import { expect, test } from "vitest";
import { isLess, isOne } from "./less.ts";
test("[X0-1-1] less is less", () => { expect(isLess(1, 1)).toBe(false); });
test("[X0-1-2] one is one", () => { expect(isOne(1)).toBe(true); });
test("[X0-1-3] red from the start", () => { expect(isOne(1)).toBe(false); });
`;
const file = "packages/a/src/less.ts";
const row = (id: string, level = "M") => ({ id, level, text: "", part: "a" });

test("each mutation has its verdict, and the working tree stays as it was", { timeout: 120_000 }, () => {
  const root = project({
    [file]: source,
    "packages/a/src/less.test.ts": tests,
    "spec/ledger.json": [row("X0-1-1"), row("X0-1-2"), row("X0-1-3"), row("X0-1-4"), row("X0-1-5", "S")],
    "spec/later.json": {},
    "spec/mutations/X0.json": [
      { id: "X0-1-1", file, find: "a < b", replace: "a <= b" },
      { id: "X0-1-1", file, find: "a < b", replace: "a < ;" },
      { id: "X0-1-1", file, find: "a > b", replace: "a >= b" },
      { id: "X0-1-2", file, find: "a === 1", replace: "a > 0" },
      { id: "X0-1-3", file, find: "a === 1", replace: "a >= 1" },
    ],
  });
  const args = [join(repository, "scripts", "mutate.ts"), "--root", root, "--json", "--jobs", "1"];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  const { trials, faults } = JSON.parse(stdout);
  expect(trials).toMatchObject([
    {
      id: "X0-1-1",
      verdict: "killed",
      line: 1,
      detail: "packages/a/src/less.test.ts › [X0-1-1] less is less",
    },
    { id: "X0-1-1", verdict: "unfit" },
    { id: "X0-1-1", verdict: "stale", detail: "the text to replace is not there" },
    { id: "X0-1-2", verdict: "survived", line: 2, detail: "1 tests stayed green" },
    { id: "X0-1-3", verdict: "unfit", detail: "red without the mutation too: [X0-1-3] red from the start" },
  ]);
  expect(faults).toEqual(["X0-1-4 has neither a mutation nor a reason to have none"]);
  expect(stderr).toContain("X0-1-4 has neither");
  expect(status).toBe(1);
  expect(readFileSync(join(root, file), "utf8")).toBe(source);

  const only = spawnSync(process.execPath, [...args, "--id", "X0-1-1", "--shard", "1/3"], {
    encoding: "utf8",
  });
  expect(JSON.parse(only.stdout).trials).toMatchObject([{ id: "X0-1-1", verdict: "killed" }]);
  expect(only.status).toBe(0);
});
