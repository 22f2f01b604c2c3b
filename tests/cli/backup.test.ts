// A backup is the whole of a gateway: what was configured, who approves, whose keys; and it is put back as help says.

import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { mcpx, scratch, up } from "./support/mcpx-process.ts";

const modeOf = (path: string) => statSync(path).mode & 0o777;
const tinyServer = join(import.meta.dirname, "support", "tiny-server.ts");

async function furnished(): Promise<string> {
  const dataDir = scratch();
  const data = ["--data", dataDir];
  const words = ["add", "tiny", ...data, "--env", "TINY_TOKEN=hush", "--", process.execPath, tinyServer];
  expect(await mcpx(words, { cwd: dataDir })).toMatchObject({ code: 0 });
  expect((await mcpx(["key", "new", "--unsealed", ...data])).code).toBe(0);
  expect((await mcpx(["key", "enroll", "alice", "--unsealed", ...data])).code).toBe(0);
  mkdirSync(join(dataDir, "credentials"), { mode: 0o700 });
  writeFileSync(join(dataDir, "credentials", "hub.json"), '{"refresh":"hush"}', { mode: 0o600 });
  return dataDir;
}

test("a backup of a running gateway is put back with its servers, keys and approvers", {
  timeout: 120_000,
}, async () => {
  const dataDir = await furnished();
  const copy = join(scratch(), "monday");
  const place = scratch();
  await up(dataDir);
  const made = await mcpx(["backup", copy, "--data", dataDir]);
  expect(made.code).toBe(0);
  expect(made.err).toContain("it holds secrets (signing keys, credentials)");
  const files = ["state.db", "topics.db", "mcpx.json", "backup.json"];
  const inner = ["approvers/alice.json", "keys/default.jwk", "credentials/hub.json"];
  for (const file of [...files, ...inner]) expect([file, modeOf(join(copy, file))]).toEqual([file, 0o600]);
  for (const dir of ["", "approvers", "keys", "credentials"]) expect(modeOf(join(copy, dir))).toBe(0o700);
  expect(existsSync(join(copy, "gateway.lock")) || existsSync(join(copy, "gateway.json"))).toBe(false);
  expect(await mcpx(["backup", "--verify", copy])).toMatchObject({
    code: 0,
    out: expect.stringMatching(/\n4 files +sound +present and as copied$/),
  });

  // As the last line says, from a place with a configuration of its own.
  const [restore = ""] = /^restore: .*$/m.exec(made.err) ?? [];
  expect(restore).toContain(`cp -r ${copy} restored && `);
  const args =
    restore
      .split(" && ")[1]
      ?.replace(/^npx mcpx up --data restored/, "")
      .trim()
      .split(" ") ?? [];
  expect(args).toEqual(["--config", "restored/mcpx.json"]);
  writeFileSync(join(place, "mcpx.json"), "{}");
  cpSync(copy, join(place, "restored"), { recursive: true });
  await up(join(place, "restored"), args, { cwd: place });
  const data = ["--data", join(place, "restored")];
  expect((await mcpx(["tree", ...data], { cwd: place })).out).toContain("tiny");
  expect((await mcpx(["key", "list", ...data])).out).toMatch(/^alice /);
  expect((await mcpx(["key", "show", ...data])).out).toBe(
    (await mcpx(["key", "show", "--data", dataDir])).out,
  );
});

test("what of it is missing, changed or no longer readable is noticed", { timeout: 120_000 }, async () => {
  const dataDir = await furnished();
  const fresh = join(scratch(), "fresh");
  expect((await mcpx(["backup", fresh, "--data", dataDir], { cwd: dataDir })).code).toBe(0);
  const damage = [
    ["mcpx.json", (path: string) => rmSync(path)],
    ["approvers/alice.json", (path: string) => writeFileSync(path, "{}")],
    [
      "keys/default.jwk",
      (path: string) => {
        rmSync(path);
        symlinkSync(join(dataDir, "keys/default.jwk"), path);
      },
    ],
    ["topics.db", (path: string) => writeFileSync(path, "")],
    ["state.db", (path: string) => rmSync(path)],
  ] as const;
  for (const [file, spoil] of damage.filter(([name]) => existsSync(join(fresh, name)))) {
    const copy = join(scratch(), "copy");
    cpSync(fresh, copy, { recursive: true });
    expect((await mcpx(["backup", "--verify", copy])).code).toBe(0);
    spoil(join(copy, file));
    expect(await mcpx(["backup", "--verify", copy])).toMatchObject({
      code: 1,
      err: `mcpx: ${file} is damaged; use another backup`,
    });
  }
  writeFileSync(join(fresh, "backup.json"), '{"files":[{"file":"../x","bytes":1,"sha256":""}]}');
  expect((await mcpx(["backup", "--verify", fresh])).err).toContain("is not the list of a backup");
  rmSync(join(fresh, "backup.json"));
  expect(await mcpx(["backup", "--verify", fresh])).toMatchObject({
    code: 0,
    err: "an earlier version made it: configuration, keys and approvers are not in it",
  });
});

test("a file that was not JSON when it was copied is named", { timeout: 120_000 }, async () => {
  const dataDir = await furnished();
  writeFileSync(join(dataDir, "approvers", "half.json"), '{"name":');
  const copy = join(scratch(), "copy");
  await mcpx(["backup", copy, "--data", dataDir], { cwd: dataDir });
  const { code, out } = await mcpx(["backup", "--verify", copy]);
  expect(code).toBe(1);
  expect(out).toMatch(/^approvers\/half\.json +it is not JSON$/m);
});

test("no link is followed, sockets and earlier backups stay where they are, and that is said", {
  timeout: 120_000,
}, async () => {
  const dataDir = await furnished();
  const outside = join(scratch(), "outside.txt");
  writeFileSync(outside, "not ours");
  symlinkSync(outside, join(dataDir, "keys", "link.jwk"));
  symlinkSync(scratch(), join(dataDir, "connections"));
  const socket = createServer().listen(join(dataDir, "line.sock"));
  onTestFinished(() => void socket.close());
  const first = join(dataDir, "backups", "first");
  const second = join(dataDir, "backups", "second");
  const inThere = { cwd: dataDir };
  expect((await mcpx(["backup", first, "--data", dataDir], inThere)).code).toBe(0);
  const { files, left } = JSON.parse(
    (await mcpx(["backup", second, "--json", "--data", dataDir], inThere)).out,
  );
  expect(left).toEqual([
    { file: "backups/first", why: "a backup or another data directory" },
    { file: "connections", why: "a link" },
    { file: "keys/link.jwk", why: "a link" },
    { file: "line.sock", why: "not a file" },
  ]);
  expect(files.map(({ file }: { file: string }) => file)).toEqual([
    "state.db",
    "mcpx.json",
    "approvers/alice.json",
    "credentials/hub.json",
    "keys/default.jwk",
  ]);
  expect(existsSync(join(second, "keys", "link.jwk"))).toBe(false);
});

test("the configuration of the running gateway is copied, wherever it is and wherever we are", {
  timeout: 120_000,
}, async () => {
  const dataDir = await furnished();
  const [home, elsewhere] = [scratch(), scratch()];
  writeFileSync(join(home, "mcpx.json"), '{ /* ours */ "topics": { "ours": {} } }', { mode: 0o640 });
  writeFileSync(join(elsewhere, "mcpx.json"), "{}");
  await mcpx(["trust", home, "--yes", "--data", dataDir]);
  await up(dataDir, [], { cwd: home });
  const copy = join(scratch(), "copy");
  const { code, err } = await mcpx(["backup", copy, "--data", dataDir], { cwd: elsewhere });
  expect(code).toBe(0);
  expect(readFileSync(join(copy, "mcpx.json"), "utf8")).toContain("ours");
  expect(modeOf(join(copy, "mcpx.json"))).toBe(0o640);
  expect(err).toContain("left out: mcpx.json, another configuration is used");
  expect(err).toContain(`mcpx.json is ${join(home, "mcpx.json")}; relative paths in it`);
  const missing = await mcpx(["backup", join(scratch(), "x"), "--data", dataDir, "--config", "no.json"]);
  expect(missing).toMatchObject({
    code: 1,
    err: expect.stringMatching(/no\.json cannot be read \(ENOENT\)/),
  });
});

test("where nothing was configured, the line to put it back names no configuration", async () => {
  const dataDir = scratch();
  await mcpx(["token", "--topic", "demo", "--id", "a", "--data", dataDir]);
  const { err } = await mcpx(["backup", join(scratch(), "x"), "--data", dataDir], { cwd: dataDir });
  expect(err).toMatch(/^restore: cp -r \S+ restored && npx mcpx up --data restored$/m);
});
