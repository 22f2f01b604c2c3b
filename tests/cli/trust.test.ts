// A configuration in the working directory is a stranger's until somebody has accepted it.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { mcpxCommand, programPath } from "../support/programs.ts";
import { newHome } from "./support/client-homes.ts";
import { mcpx, scratch, start, up } from "./support/mcpx-process.ts";

const tiny = { command: process.execPath, args: [programPath("tests/cli/support/tiny-server.ts")] };

/** A directory with a configuration whose one server leaves a mark where it was started. */
function strange() {
  const home = newHome(["claude-desktop"]);
  const dataDir = join(home.dir, "data");
  const path = join(home.project, "mcpx.json");
  const leaving = (mark: string) => ({
    command: process.execPath,
    args: ["-e", `require("node:fs").writeFileSync(${JSON.stringify(join(home.dir, mark))}, "")`],
  });
  const write = (mark: string) =>
    writeFileSync(path, JSON.stringify({ mcpServers: { evil: leaving(mark) } }));
  const isStarted = (mark: string) => existsSync(join(home.dir, mark));
  const options = { cwd: home.project, env: { ...home.env, MCPX_DATA: dataDir } };
  write("first");
  return { home, dataDir, path, write, isStarted, options, run: (...args: string[]) => mcpx(args, options) };
}

test("[B-CWD-1] no command uses what lies in the working directory, and each says how to accept it", {
  timeout: 120_000,
}, async () => {
  const { home, dataDir, path, isStarted, options, run } = strange();
  await mcpx(["token", "--topic", "demo", "--id", "a", "--data", dataDir]);
  const desktop = readFileSync(home.path("claude-desktop"), "utf8");
  const lines = [
    ["up", "--port", "0"],
    ["up", "--port", "0", "--json"],
    ["stdio"],
    ["add", "more", "--", process.execPath],
    ["remove", "evil"],
    ["import", "--yes"],
    ["tools", "disable", "evil.x"],
    ["connect", "claude-desktop", "--yes"],
    ["connect", "claude-desktop", "--print"],
    ["backup", join(home.dir, "copy")],
  ];
  const before = readFileSync(path, "utf8");
  for (const args of lines) {
    const { code, err } = await run(...args);
    expect({ args, code, lines: err.split("\n").length }).toEqual({ args, code: 1, lines: 1 });
    expect(err).toContain(`mcpx: ${path} is not used: it was found in the working directory`);
    expect(err).toContain(`accept it with \`npx mcpx trust ${path} --data ${dataDir}\``);
  }
  const doctor = await run("doctor");
  expect(doctor.out).toMatch(/^FAULT {4}configuration: \S+ is not used.*mcpx trust/m);
  expect(isStarted("first")).toBe(false);
  expect(readFileSync(path, "utf8")).toBe(before);
  expect(readFileSync(home.path("claude-desktop"), "utf8")).toBe(desktop);
  // The way back is open wherever we are.
  expect((await run("connect", "claude-desktop", "--undo")).err).toContain("nothing to undo");

  // Naming a file is no yes to it for good, nor is an edit of ours in it.
  const edit = ["add", "more", "--config", "mcpx.json", "--", process.execPath];
  expect(await run(...edit)).toMatchObject({ code: 0 });
  expect((await run("doctor")).out).toContain(`${path} is not used`);
  expect(isStarted("first")).toBe(false);

  // The control: named by its user it counts, and what it says is started.
  await mcpx(["doctor", "--config", "mcpx.json"], options);
  expect(isStarted("first")).toBe(true);
});

test("what was accepted is used as it was accepted, whatever the file becomes", {
  timeout: 120_000,
}, async () => {
  const { home, dataDir, write, isStarted, run } = strange();
  const shown = await run("trust");
  expect(shown).toMatchObject({ code: 1, err: expect.stringContaining("add --yes") });
  expect(shown.out).toContain(`start   evil: ${process.execPath} -e`);
  expect(JSON.parse((await run("trust", "--json")).out)).toMatchObject({ accepted: false });
  expect(isStarted("first")).toBe(false);
  expect(await run("trust", "--yes")).toMatchObject({ code: 0 });
  const [record = ""] = readdirSync(join(dataDir, "trusted"));
  expect(statSync(join(dataDir, "trusted")).mode & 0o777).toBe(0o700);
  expect(statSync(join(dataDir, "trusted", record)).mode & 0o777).toBe(0o600);
  expect((await run("trust")).out).toContain("is accepted already");
  expect((await run("trust", "--list")).out).toMatch(/project\/mcpx\.json {2}\S+Z {2}accepted$/);

  write("second");
  const waiting = await run("doctor");
  expect(waiting.out).toMatch(/^warning {2}configuration: \S+ has changed since it was accepted/m);
  expect([isStarted("first"), isStarted("second")]).toEqual([true, false]);
  expect((await run("trust", "--list")).out).toMatch(/changed since$/);
  const edit = await run("add", "more", "--", process.execPath);
  expect(edit).toMatchObject({ code: 1, err: expect.stringContaining("nothing was written") });
  expect(edit.err).toContain("first look at that change and accept it with `npx mcpx trust");
  const copy = join(home.dir, "copy");
  await run("token", "--topic", "demo", "--id", "a");
  expect(await run("backup", copy)).toMatchObject({ code: 0 });
  expect(readFileSync(join(copy, "mcpx.json"), "utf8")).toContain("first");

  const accepted = await run("trust", "--yes");
  expect(accepted.out).toMatch(/^ {2}start {3}evil: .*second/m);
  expect(accepted.out).toMatch(/^Since \S+Z, when it was accepted:$/m);
  await run("doctor");
  expect(isStarted("second")).toBe(true);

  expect(await run("trust", "--remove")).toMatchObject({ code: 0 });
  expect((await run("doctor")).out).toContain("is not used");
  expect(await run("trust", "--remove")).toMatchObject({ code: 1 });
});

test("a running gateway waits for a yes to an edit by hand, and takes our own edits over", {
  timeout: 120_000,
}, async () => {
  const { dataDir, path, run, options } = strange();
  const allow = { gates: { unannotated: "allow" } };
  writeFileSync(path, JSON.stringify({ ...allow, mcpServers: { tiny } }));
  await run("trust", "--yes");
  const gateway = await up(dataDir, [], options);
  const servers = async () =>
    (JSON.parse((await run("tree", "--json")).out) as { servers: { name: string }[] }).servers.map(
      ({ name }) => name,
    );
  const names = async () => JSON.stringify(await servers());
  const withMore = { ...allow, mcpServers: { tiny, more: tiny } };
  writeFileSync(path, JSON.stringify(withMore));
  await gateway.line(/mcpx\.json has changed since it was accepted: what was accepted stays in force until/);
  expect(gateway.err.join("\n")).not.toContain("+ more");
  expect(await names()).not.toContain("more");
  await run("trust", "--yes");
  await gateway.line(/"\+ more"/);
  expect(await names()).toContain("more");
  // Our own edit of what was accepted waits for nobody, and neither does its successor.
  expect(await run("add", "third", "--", tiny.command, ...tiny.args)).toMatchObject({ code: 0 });
  await gateway.line(/"\+ third"/);
  expect(await run("remove", "third")).toMatchObject({
    code: 0,
    err: expect.stringMatching(/^undo: mv \S+ \S+mcpx\.json && npx mcpx trust \S+mcpx\.json$/),
  });
  await gateway.line(/"- third"/);
  expect(gateway.err.filter((line) => line.includes("has changed since"))).toHaveLength(1);
});

test("a gateway that found no configuration takes up the first that is written and accepted", {
  timeout: 120_000,
}, async () => {
  const { dataDir, path, run, options } = strange();
  rmSync(path);
  const gateway = await up(dataDir, ["--no-demo"], options);
  writeFileSync(path, JSON.stringify({ gates: { unannotated: "allow" }, mcpServers: { tiny } }));
  await gateway.line(/mcpx\.json is not used/);
  expect(gateway.err.join("\n")).not.toContain("+ tiny");
  expect(await run("trust", "--yes")).toMatchObject({ code: 0 });
  await gateway.line(/"\+ tiny"/);
  expect(gateway.err.join("\n")).not.toContain("could not watch");
});

test("what connect writes counts only as it was accepted", { timeout: 120_000 }, async () => {
  const { home, path, write, isStarted, run, options } = strange();
  await run("trust", "--yes");
  expect(await run("connect", "claude-desktop", "--yes")).toMatchObject({ code: 0 });
  const { args } = JSON.parse(readFileSync(home.path("claude-desktop"), "utf8")).mcpServers.mcpx;
  expect(args.slice(-2)).toEqual(["--trusted", path]);
  const words = args.slice(args.indexOf("stdio")) as string[];
  write("second");
  // Another stranger's directory, as clients are started in.
  const elsewhere = scratch();
  writeFileSync(join(elsewhere, "mcpx.json"), '{ "mcpServers": { "x": { "command": "false" } } }');
  const list = async () => {
    const stdio = start(words, { ...options, cwd: elsewhere, isTyped: true });
    const params = {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "t", version: "1" },
    };
    stdio.type(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params }));
    stdio.type(JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }));
    stdio.type(JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/list" }));
    await stdio.line(/"id":2/);
    stdio.type();
    return await stdio.ended;
  };
  await list();
  expect([isStarted("first"), isStarted("second")]).toEqual([true, false]);
  // The control.
  await run("trust", "--yes");
  await list();
  expect(isStarted("second")).toBe(true);
});

test("a link to an accepted file, and a file that is none, are strangers", { timeout: 60_000 }, async () => {
  const { home, path, isStarted, run, options } = strange();
  await run("trust", "--yes");
  const trap = join(home.dir, "trap");
  mkdirSync(trap);
  // Relative commands of it would be the trap's.
  symlinkSync(path, join(trap, "mcpx.json"));
  const linked = await mcpx(["doctor"], { ...options, cwd: trap });
  expect(linked.out).toContain(`${join(trap, "mcpx.json")} is not used`);
  expect(isStarted("first")).toBe(false);
  rmSync(join(trap, "mcpx.json"));
  execFileSync("mkfifo", [join(trap, "mcpx.json")]);
  const piped = await mcpx(["up"], { ...options, cwd: trap });
  expect(piped).toMatchObject({ code: 1, err: expect.stringContaining("is not a file") });
  // The control: the directory by another name is the same directory.
  symlinkSync(home.project, join(home.dir, "same"));
  expect((await mcpx(["doctor"], { ...options, cwd: join(home.dir, "same") })).out).not.toContain(
    "is not used",
  );
  expect(isStarted("first")).toBe(true);
});

test("records that others could have written count for nothing", { timeout: 60_000 }, async () => {
  const { dataDir, isStarted, run } = strange();
  await run("trust", "--yes");
  const dir = join(dataDir, "trusted");
  const record = join(dir, readdirSync(dir)[0] as string);
  const good = readFileSync(record, "utf8");
  const refused = async (why: string) => {
    const { out } = await run("doctor");
    expect(out).toMatch(/^FAULT {4}configuration/m);
    expect(out).toContain(why);
    expect(isStarted("first")).toBe(false);
  };
  chmodSync(record, 0o666);
  await refused(`other users may write to ${record} (mode 0666); chmod 600 ${record}`);
  chmodSync(record, 0o600);
  chmodSync(dir, 0o777);
  await refused(`other users may write to ${dir} (mode 0777); chmod 700 ${dir}`);
  chmodSync(dir, 0o700);
  writeFileSync(record, good.replace("first", "other"));
  await refused("its text is not the one that was accepted");
  rmSync(record);
  writeFileSync(`${record}.else`, good);
  symlinkSync(`${record}.else`, record);
  await refused("is damaged: it cannot be read (ELOOP)");
  // The control.
  rmSync(record);
  writeFileSync(record, good, { mode: 0o600 });
  await run("doctor");
  expect(isStarted("first")).toBe(true);
});

test("at a terminal mcpx up shows what it would start and asks once", { timeout: 60_000 }, async () => {
  const { dataDir, path, options } = strange();
  writeFileSync(path, JSON.stringify({ mcpServers: { tiny }, gates: { unannotated: "allow" } }));
  const program = ["python3", join(import.meta.dirname, "support", "terminal.py"), ...mcpxCommand] as const;
  const args = ["up", "--port", "0", "--data", dataDir];
  const typed = { ...options, isTyped: true, program };
  const no = start(args, typed);
  await no.line(/start {3}tiny: /);
  await no.line(/weaken {2}gates\.unannotated/);
  await no.line(/Accept this configuration\? y or n/);
  no.type("");
  await no.line(/was not accepted, so nothing was started/);
  expect((await no.ended).code).toBe(1);
  const yes = start(args, typed);
  await yes.line(/Accept this configuration\?/);
  yes.type("y");
  await yes.line(/is ready at/);
  yes.press("\u0003");
  await yes.ended;
  const again = start(args, typed);
  await again.line(/is ready at/);
  expect(again.out.join("\n")).not.toContain("Accept");
  again.press("\u0003");
  await again.ended;
});
