// A data directory in which others have a hand: refused by every command that would believe what stands there.
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, renameSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { mcpx, scratch, up } from "./support/mcpx-process.ts";

/** With a store, and a configuration that leaves a mark when its server is started. */
async function furnished() {
  const [dataDir, outside] = [scratch(), scratch()];
  const mark = join(outside, "started");
  const args = ["-e", `require("node:fs").writeFileSync(${JSON.stringify(mark)}, "")`];
  await mcpx(["token", "--topic", "demo", "--id", "a", "--data", dataDir]);
  const config = { mcpServers: { evil: { command: process.execPath, args } } };
  writeFileSync(join(dataDir, "mcpx.json"), JSON.stringify(config), { mode: 0o600 });
  const run = (...words: string[]) => mcpx([...words, "--data", dataDir], { cwd: outside });
  return { dataDir, outside, run, isStarted: () => existsSync(mark) };
}

const lines = [
  ["up", "--port", "0"],
  ["stdio"],
  ["token", "--topic", "demo", "--id", "b"],
  ["connect", "cursor", "--print"],
  ["backup", "copy"],
];

test("others may write into it: nothing is started, minted or copied, and the line names the chmod", {
  timeout: 120_000,
}, async () => {
  const { dataDir, run, isStarted } = await furnished();
  chmodSync(dataDir, 0o777);
  for (const args of lines) {
    const { code, err } = await run(...args);
    expect({ args, code, err }).toEqual({
      args,
      code: 1,
      err: `mcpx: the data directory is not safe: other users may write to ${dataDir} (mode 0777); look for files that are not yours, then chmod 700 ${dataDir}, or choose a directory of your own with --data DIR`,
    });
  }
  const { out } = await run("doctor");
  expect(out).toMatch(/^FAULT {4}data: other users may write to \S+ \(mode 0777\)$/m);
  expect(isStarted()).toBe(false);
  // The control: it is ours, and what an older build made readable is too.
  for (const mode of [0o755, 0o700]) {
    chmodSync(dataDir, mode);
    expect(await run("token", "--topic", "demo", "--id", "b")).toMatchObject({ code: 0, err: "" });
  }
  await run("doctor");
  expect(isStarted()).toBe(true);
});

test("a store that is a link out of it is not opened", { timeout: 60_000 }, async () => {
  const { dataDir, outside, run } = await furnished();
  const [store, moved] = [join(dataDir, "state.db"), join(outside, "state.db")];
  renameSync(store, moved);
  symlinkSync(moved, store);
  for (const args of [
    ["up", "--port", "0"],
    ["token", "--topic", "demo", "--id", "b"],
  ]) {
    const { code, err } = await run(...args);
    expect([code, err]).toEqual([
      1,
      expect.stringContaining(`${store} is a link that leads out of it, to ${moved}`),
    ]);
  }
  renameSync(moved, store);
  expect(await run("token", "--topic", "demo", "--id", "b")).toMatchObject({ code: 0 });
});

test("an empty directory that was open is closed, and that is said", { timeout: 60_000 }, async () => {
  const dataDir = scratch();
  chmodSync(dataDir, 0o775);
  const gateway = await up(dataDir, [], { cwd: scratch() });
  await gateway.line(/was open to others \(mode 0775\); only this user may now/);
  expect(statSync(dataDir).mode & 0o777).toBe(0o700);
});

test.skipIf(process.getuid?.() !== 0)(
  "a directory of another user is refused by everybody but root",
  async () => {
    const { dataDir } = await furnished();
    const look = (owner: number, uid: number) => {
      chownSync(dataDir, owner, owner);
      const source = `import { checkDataDir } from ${JSON.stringify(join(import.meta.dirname, "../../packages/cli/src/files/data-dir-rights.ts"))};
      process.setgroups([]); process.setgid(${uid}); process.setuid(${uid});
      try { checkDataDir(${JSON.stringify(dataDir)}); console.log("good"); } catch (error) { console.log(error.message); }`;
      chmodSync(dataDir, 0o755);
      const { stdout } = spawnSync(process.execPath, [
        "--conditions=mcpx-source",
        "--input-type=module",
        "-e",
        source,
      ]);
      return stdout.toString();
    };
    expect(look(1234, 4321)).toContain(`${dataDir} belongs to the user 1234, and this is 4321`);
    // The controls: one's own, and root's.
    expect(look(4321, 4321)).not.toContain("belongs to");
    expect(look(1234, 0)).not.toContain("belongs to");
  },
);

test.skipIf(process.getuid?.() !== 0)(
  "a directory that its user may not write to is named, with the chmod",
  () => {
    const dataDir = scratch();
    chownSync(dataDir, 4321, 4321);
    const make = (mode: number) => {
      chmodSync(dataDir, mode);
      const path = JSON.stringify(join(import.meta.dirname, "../../packages/cli/src/files/data-dir.ts"));
      const source = `import { makeDataDir } from ${path};
      process.setgroups([]); process.setgid(4321); process.setuid(4321);
      try { console.log(makeDataDir(${JSON.stringify(dataDir)})); } catch (error) { console.log(error.message); }`;
      const args = ["--conditions=mcpx-source", "--input-type=module", "-e", source];
      return spawnSync(process.execPath, args).stdout.toString();
    };
    expect(make(0o555)).toContain(
      `the data directory ${dataDir} is read-only for user 4321 (EACCES); give that user write access (chmod u+w ${dataDir}), or choose another directory with --data DIR`,
    );
    expect(make(0o755)).toContain("{ isNew: false }");
  },
);
