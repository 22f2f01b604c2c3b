import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createManualClock, systemClock } from "../clock.ts";
import { createLogger } from "../logging/log.ts";
import { openState } from "../sqlite/state.ts";
import { createSqliteIdentityStore } from "./identity-store-sqlite.ts";
import { createRevocations, type Revocations } from "./revocations.ts";

let folder: string;
const open: { db: DatabaseSync; revocations: Revocations }[] = [];
const lines: string[] = [];
const log = createLogger({ level: "error", destination: { write: (line) => void lines.push(line) } });
const ttlMsMax = 86_400_000;

/** As a process of its own would have it: another connection to the same file. */
async function start(clock = systemClock): Promise<Revocations> {
  const db = openState(join(folder, "state.db"));
  const revocations = await createRevocations({ store: createSqliteIdentityStore(db), clock, log, ttlMsMax });
  open.push({ db, revocations });
  return revocations;
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "mcpx-revoked-"));
});

afterEach(() => {
  for (const { db, revocations } of open.splice(0)) {
    revocations.close();
    db.close();
  }
  lines.length = 0;
  vi.useRealTimers();
  rmSync(folder, { recursive: true });
});

test("a revocation counts at once, is announced once, and survives a restart", async () => {
  const revocations = await start();
  const heard: string[] = [];
  const stop = revocations.onRevoked((jti) => heard.push(jti));
  expect(revocations.isRevoked("one")).toBe(false);
  const first = await revocations.revoke("one");
  expect(first).toMatchObject({ jti: "one", known: false });
  expect(await revocations.revoke("one")).toEqual(first);
  expect(revocations.isRevoked("one")).toBe(true);
  expect(heard).toEqual(["one"]);
  stop();
  await revocations.revoke("two");
  expect(heard).toEqual(["one"]);
  expect((await start()).isRevoked("two")).toBe(true);
});

test("another process's revocation is announced within a second", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const here = await start();
  const heard: string[] = [];
  here.onRevoked((jti) => heard.push(jti));
  await (await start()).revoke("one");
  expect(heard).toEqual([]);
  vi.advanceTimersByTime(1_000);
  expect(heard).toEqual(["one"]);
  vi.advanceTimersByTime(10_000);
  expect(heard).toEqual(["one"]);
});

test("a late timer delays no refusal by more than a second", async () => {
  const clock = createManualClock();
  const here = await start(clock);
  await (await start(clock)).revoke("one");
  clock.advance(1_001);
  expect(here.isRevoked("one")).toBe(true);
});

test("a listener that fails does not keep the others from hearing", async () => {
  const revocations = await start();
  const heard: string[] = [];
  revocations.onRevoked(() => {
    throw new Error("broken listener");
  });
  revocations.onRevoked((jti) => heard.push(jti));
  await revocations.revoke("one");
  expect(heard).toEqual(["one"]);
  expect(lines.join("")).toContain("broken listener");
});

test("revocations are forgotten when no token can need them any more", async () => {
  const clock = createManualClock();
  const revocations = await start(clock);
  await revocations.revoke("one");
  // And a month more, for a clock that was set ahead.
  clock.advance(ttlMsMax + 30 * 86_400_000);
  await revocations.revoke("two");
  expect(open[0]?.db.prepare("SELECT jti FROM revoked_tokens").all()).toEqual([{ jti: "two" }]);
  expect((await start(clock)).isRevoked("two")).toBe(true);
});
