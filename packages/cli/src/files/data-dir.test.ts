import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readPlace, removePlace, runningPlace, writePlace } from "../access/running-gateway.ts";
import { dataDirOf, makeDataDir } from "./data-dir.ts";
import { isLocked, takeLock } from "./data-lock.ts";

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

test("a directory that others may write to is refused, a sticky one too; an empty one is closed", () => {
  const dir = scratch();
  const told: string[] = [];
  const make = () => makeDataDir(dir, (line) => void told.push(line));
  chmodSync(dir, 0o777);
  expect(make()).toEqual({ isNew: false });
  expect(statSync(dir).mode & 0o777).toBe(0o700);
  expect(told).toEqual([`the data directory ${dir} was open to others (mode 0777); only this user may now`]);
  writeFileSync(join(dir, "state.db"), "", { mode: 0o600 });
  for (const mode of [0o777, 0o770, 0o702, 0o1777]) {
    chmodSync(dir, mode);
    expect(make).toThrow(`other users may write to ${dir} (mode ${mode.toString(8).padStart(4, "0")})`);
    expect(make).toThrow(`then chmod 700 ${dir}`);
  }
  // Readable is not writable: an older build made such.
  chmodSync(dir, 0o755);
  expect(make()).toEqual({ isNew: false });
  expect(told).toHaveLength(1);
});

test("a secret others may read is closed where the directory kept them out, and else refused", () => {
  const dir = scratch();
  const told: string[] = [];
  const make = () => makeDataDir(dir, (line) => void told.push(line));
  const key = join(dir, "keys", "default.jwk");
  mkdirSync(join(dir, "keys"), { mode: 0o700 });
  for (const path of [key, join(dir, "state.db")]) {
    writeFileSync(path, "", { mode: 0o600 });
    chmodSync(path, 0o644);
    chmodSync(dir, 0o755);
    expect(make).toThrow(`other users may read ${path} (mode 0644); chmod 600 ${path}`);
    chmodSync(dir, 0o700);
    make();
    expect(told.at(-1)).toContain(`other users may read ${path} (mode 0644)`);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  }
});

test("a link that leads out is refused for stores and keys; inside, for the whole, and for the configuration it is not", () => {
  const [dir, outside] = [scratch(), scratch()];
  const link = (name: string, target: string) => {
    symlinkSync(target, join(dir, name));
    return join(dir, name);
  };
  for (const name of [
    "state.db",
    "topics.db",
    "gateway.json",
    "approvers",
    "keys",
    "credentials",
    "trusted",
  ]) {
    const path = link(name, join(outside, "x"));
    expect(() => makeDataDir(dir)).toThrow(`${path} is a link that leads out of it, nowhere`);
    rmSync(path);
    link(name, outside);
    expect(() => makeDataDir(dir)).toThrow(`${path} is a link that leads out of it, to ${outside}`);
    rmSync(path);
  }
  mkdirSync(join(dir, "keys"));
  link("keys/a.jwk", join(outside, "x"));
  expect(() => makeDataDir(dir)).toThrow("keys/a.jwk is a link");
  rmSync(join(dir, "keys/a.jwk"));
  writeFileSync(join(dir, "real.db"), "", { mode: 0o600 });
  link("state.db", join(dir, "real.db"));
  link("mcpx.json", join(outside, "mcpx.json"));
  expect(makeDataDir(dir)).toEqual({ isNew: false });
  symlinkSync(dir, join(outside, "data"));
  expect(makeDataDir(join(outside, "data"))).toEqual({ isNew: false });
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
