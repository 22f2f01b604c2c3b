import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { dataDirOf, isWritableByOthers, makeDataDir } from "./data-dir.ts";
import { isLocked, takeLock } from "./data-lock.ts";
import { readPlace, removePlace, runningPlace, writePlace } from "./running-gateway.ts";

function scratch(): string {
  const dir = mkdtempSync(join(tmpdir(), "mcpx-cli-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

test("the data directory is --data, else $MCPX_DATA, else the desktop's, else the home's", () => {
  const env = { MCPX_DATA: "/env", XDG_DATA_HOME: "/xdg", HOME: "/home/a" };
  const of = (env: Record<string, string>, data?: string) => dataDirOf({ env, cwd: "/cwd" }, { data });
  expect(of(env, "given")).toBe("/cwd/given");
  expect(of(env)).toBe("/env");
  expect(of({ ...env, MCPX_DATA: "" })).toBe("/xdg/mcpx");
  expect(of({ HOME: "/home/a", XDG_DATA_HOME: "relative" })).toBe("/home/a/.local/share/mcpx");
  expect(of({ HOME: "/home/a" })).toBe("/home/a/.local/share/mcpx");
});

test("it is made for its owner alone", () => {
  const dir = join(scratch(), "a", "b");
  expect(makeDataDir(dir)).toEqual({ isNew: true });
  expect(statSync(dir).mode & 0o777).toBe(0o700);
  expect(makeDataDir(dir)).toEqual({ isNew: false });
});

test("what cannot be a directory is told plainly", () => {
  const file = join(scratch(), "file");
  writeFileSync(file, "");
  expect(() => makeDataDir(file)).toThrow(/is not a directory; choose another with --data DIR/);
  expect(() => makeDataDir(join(file, "below"))).toThrow(/is not a directory/);
});

test("a directory others may write to is noticed, a sticky one is not", () => {
  const dir = scratch();
  expect(isWritableByOthers(dir)).toBe(false);
  chmodSync(dir, 0o777);
  expect(isWritableByOthers(dir)).toBe(true);
  chmodSync(dir, 0o1777);
  expect(isWritableByOthers(dir)).toBe(false);
});

test("one at a time holds the lock, and looking does not take it", () => {
  const dir = scratch();
  expect(isLocked(dir)).toBe(false);
  const first = takeLock(dir);
  expect(isLocked(dir)).toBe(true);
  expect(takeLock(dir)).toBeUndefined();
  first?.release();
  expect(isLocked(dir)).toBe(false);
  takeLock(dir)?.release();
});

test("a place counts only while its gateway lives", () => {
  const dir = scratch();
  const place = { url: "http://127.0.0.1:1", pid: 1 };
  writePlace(dir, place);
  expect(statSync(join(dir, "gateway.json")).mode & 0o777).toBe(0o600);
  expect(readPlace(dir)).toEqual(place);
  expect(runningPlace(dir)).toBeUndefined();
  const lock = takeLock(dir);
  expect(runningPlace(dir)).toEqual(place);
  removePlace(dir);
  expect(runningPlace(dir)).toBeUndefined();
  lock?.release();
});

test("a damaged place is none", () => {
  const dir = scratch();
  for (const text of ["", "{", "[]", '{"url":1}']) {
    writeFileSync(join(dir, "gateway.json"), text);
    expect(readPlace(dir)).toBeUndefined();
  }
});
