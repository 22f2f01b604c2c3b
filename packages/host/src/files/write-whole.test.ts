import { linkSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { writeWhole } from "./write-whole.ts";

function scratch(): { dir: string; path: string } {
  const dir = mkdtempSync(join(tmpdir(), "mcpx-whole-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return { dir, path: join(dir, "file") };
}

test("a file is replaced, for its owner alone, and nothing else is left", () => {
  const { dir, path } = scratch();
  writeFileSync(path, "old and longer", { mode: 0o644 });
  writeWhole(path, "new");
  expect(readFileSync(path, "utf8")).toBe("new");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(dir)).toEqual(["file"]);
});

test("its mode is the one that was asked for, whatever the umask", () => {
  const { path } = scratch();
  writeWhole(path, "new", { mode: 0o666 });
  expect(statSync(path).mode & 0o777).toBe(0o666);
});

test("a file that is not put in its place leaves the old one and no draft", () => {
  const { dir, path } = scratch();
  writeWhole(path, "old");
  expect(() => writeWhole(path, "new", { place: linkSync })).toThrow("EEXIST");
  expect(readFileSync(path, "utf8")).toBe("old");
  expect(readdirSync(dir)).toEqual(["file"]);
});
