// `mcpx add` and `mcpx remove`: the tree's configuration, edited as a careful person would.
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { mcpx, scratch, start, up } from "./support/mcpx-process.ts";

const modeOf = (path: string) => statSync(path).mode & 0o777;
const backupsIn = (dir: string) => readdirSync(dir).filter((name) => name.endsWith(".bak"));

test("the first server makes the configuration, its owner's alone", async () => {
  const dataDir = join(scratch(), "new");
  const args = [
    "add",
    "files",
    "--data",
    dataDir,
    "--env",
    "A=b=c",
    "--",
    "npx",
    "-y",
    "server-files",
    "--root",
  ];
  const { code, out, err } = await mcpx(args, { cwd: scratch() });
  const path = join(dataDir, "mcpx.json");
  expect(code).toBe(0);
  expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({
    mcpServers: { files: { command: "npx", args: ["-y", "server-files", "--root"], env: { A: "b=c" } } },
  });
  expect(out.split("\n")[0]).toBe(`added files in ${path}`);
  expect(out).toContain('  +       "command": "npx",');
  expect(err).toBe("undo: npx mcpx remove files");
  expect([modeOf(dataDir), modeOf(path)]).toEqual([0o700, 0o600]);
});

test("the first server tells that the demo makes way; where there is none, nothing is told", {
  timeout: 90_000,
}, async () => {
  const [dataDir, cwd] = [scratch(), scratch()];
  const add = (name: string) =>
    mcpx(["add", name, "https://notes.example.com/mcp", "--data", dataDir], { cwd });
  const gateway = start(["up", "--port", "0", "--json", "--data", dataDir], { cwd });
  await gateway.line(/^\{"url"/);
  expect((await add("notes")).err).toContain(
    "the demo ends: its workshop leaves the tree now, its room and its board after a restart of the gateway",
  );
  expect((await add("more")).err).not.toContain("demo");
  const bare = scratch();
  await up(bare, [], { cwd });
  const added = await mcpx(["add", "notes", "https://notes.example.com/mcp", "--data", bare], { cwd });
  expect(added).toMatchObject({ code: 0, err: "undo: npx mcpx remove notes" });
});

test("comments and the style of the file survive, and the backup is what it was", async () => {
  const cwd = scratch();
  const path = join(cwd, "mcpx.json");
  const before = `{
\t// where
\t"listen": { "port": 0 }, // any
\t"mcpServers": {
\t\t"a": { "command": "true" }, // about a
\t},
}
`;
  writeFileSync(path, before);
  chmodSync(path, 0o640);
  const added = await mcpx(
    ["add", "Notes", "https://notes.example.com/mcp", "--header", "X-Team: red", "--json"],
    { cwd, env: { MCPX_DATA: cwd } },
  );
  const after = readFileSync(path, "utf8");
  expect(after).toBe(
    before.replace(
      "// about a\n",
      '// about a\n\t\t"Notes": {\n\t\t\t"url": "https://notes.example.com/mcp",\n\t\t\t"headers": {\n\t\t\t\t"X-Team": "red"\n\t\t\t}\n\t\t},\n',
    ),
  );
  const { backup, ...rest } = JSON.parse(added.out);
  expect(rest).toEqual({ name: "Notes", file: path, replaced: false });
  expect(backup).toMatch(/mcpx\.json\.\d{8}T\d{6}Z(-\d+)?\.bak$/);
  expect(readFileSync(backup, "utf8")).toBe(before);
  expect([modeOf(path), modeOf(backup)]).toEqual([0o640, 0o640]);

  const removed = await mcpx(["remove", "Notes"], { cwd, env: { MCPX_DATA: cwd } });
  expect(removed.code).toBe(0);
  expect(readFileSync(path, "utf8")).toBe(before);
  expect(removed.out).toContain('  -       "url": "https://notes.example.com/mcp",');
  expect(removed.err).toMatch(/^undo: mv \S+\.bak \S+mcpx\.json$/);
  await up(cwd, [], { cwd });
});

test("a server that is there is only replaced when told to, and its secrets are not shown", async () => {
  const cwd = scratch();
  const path = join(cwd, "mcpx.json");
  const before = '{ "mcpServers": { "hub": { "command": "hub", "env": { "HUB_TOKEN": "old-secret" } } } }';
  writeFileSync(path, before, { mode: 0o644 });
  const refused = await mcpx(["add", "hub", "--", "hub2"], { cwd, env: { MCPX_DATA: cwd } });
  expect(refused).toEqual({
    code: 1,
    out: "",
    err: `mcpx: there is a server hub in ${path} already; replace it with --replace, or choose another name`,
  });
  expect(readFileSync(path, "utf8")).toBe(before);
  const args = [
    "add",
    "hub",
    "--replace",
    "--env",
    "HUB_TOKEN=new-secret",
    "--trusted",
    "--segment",
    "h",
    "--force",
    "--",
    "hub2",
  ];
  const { code, out, err } = await mcpx(args, { cwd, env: { MCPX_DATA: cwd } });
  expect(code).toBe(0);
  expect(out + err).not.toMatch(/old-secret|new-secret/);
  expect(err).toContain("the file holds secrets, so only you may read it now (mode 0600)");
  expect(modeOf(path)).toBe(0o600);
  expect(JSON.parse(readFileSync(path, "utf8")).mcpServers.hub).toEqual({
    command: "hub2",
    env: { HUB_TOKEN: "new-secret" },
    segment: "h",
    trusted: true,
  });
});

test("an edit that would not start is refused, and the file stays", async () => {
  const cwd = scratch();
  const path = join(cwd, "mcpx.json");
  const before =
    '{ "mcpServers": { "my.files": { "command": "x" }, "top": { "command": "y", "root": true } } }';
  writeFileSync(path, before);
  const lines = [
    [["add", "other", "--segment", "my_files", "--", "z"], "the segment my_files belongs to my.files"],
    [["add", "other", "--root", "--", "z"], "the root belongs to top"],
    [["add", "mcpax", "--", "z"], "the segment mcpax belongs to mcpx itself"],
    [["add", "other", "--segment", "Not One", "--", "z"], "it would be wrong: "],
    [["add", "other", "http://"], "it would be wrong: "],
  ] as const;
  for (const [args, fault] of lines) {
    const { code, err } = await mcpx(args, { cwd, env: { MCPX_DATA: cwd } });
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(`mcpx: nothing was written`) });
    expect(err).toContain(fault);
  }
  writeFileSync(path, '{ "mcpServers": ');
  expect((await mcpx(["add", "b", "--", "z"], { cwd, env: { MCPX_DATA: cwd } })).err).toMatch(
    /mcpx\.json:1:\d+ is not JSON/,
  );
  expect(backupsIn(cwd)).toEqual([]);
});

test("a command that is not there is not written, nor what is no address, unless that is wished", {
  timeout: 120_000,
}, async () => {
  const [cwd, dataDir] = [scratch(), scratch()];
  const path = join(dataDir, "mcpx.json");
  const adding = (...words: string[]) => mcpx(["add", "x", "--data", dataDir, ...words], { cwd });
  writeFileSync(join(cwd, "plain.sh"), "", { mode: 0o644 });
  for (const [words, fault] of [
    [["--", "no-such-binary"], "-- no-such-binary` for a command once it is installed"],
    [["notaurl"], "notaurl is neither a whole URL nor a command"],
    [["--", "no-such-binary", "serve"], "no-such-binary is not there or not on PATH; install it"],
    [["--", "./plain.sh"], "./plain.sh may not be executed"],
    [["--env", "PATH=/nowhere", "--", "node", "x.js"], "node is not there or not on PATH"],
  ] as const) {
    const { code, err } = await adding(...words);
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining("mcpx: nothing was written: ") });
    expect(err).toContain(fault);
    expect(existsSync(path)).toBe(false);
  }
  chmodSync(join(cwd, "plain.sh"), 0o755);
  expect((await adding("--", "./plain.sh")).code).toBe(0);
  expect((await adding("--replace", "--force", "--", "no-such-binary")).code).toBe(0);
  expect(JSON.parse(readFileSync(path, "utf8")).mcpServers.x).toEqual({ command: "no-such-binary" });
});

test.each([
  [["add", "a"], "missing argument"],
  [["add", "__proto__", "--", "x"], "cannot be a server's name"],
  [["add", "a", "http://x", "--env", "A=1"], "--env is for commands"],
  [["add", "a", "--header", "A: 1", "--", "x"], "--header is for addresses"],
  [["add", "a", "--env", "SECRET", "--", "x"], "--env needs a name and a value; write --env KEY=value"],
  [["add", "a", "--env", "A=1", "--env", "A=2", "--", "x"], "--env A is given twice"],
  [["add", "a", "--root", "--segment", "s", "--", "x"], "--root and --segment cannot be combined"],
])("a wrong command line %j is one line, exit 2", async (args, fault) => {
  const { code, err } = await mcpx(args, { cwd: scratch() });
  expect(code).toBe(2);
  expect(err).toContain(fault);
  expect(err).not.toContain("\n");
});

test("--config may name a file that is not there yet, or one behind a link", async () => {
  const cwd = scratch();
  const real = join(scratch(), "real.json");
  const made = await mcpx(["add", "a", "--config", "sub.json", "--force", "--", "./a.js"], { cwd });
  expect(made.code).toBe(0);
  expect(existsSync(join(cwd, "sub.json"))).toBe(true);
  writeFileSync(real, "{}");
  symlinkSync(real, join(cwd, "link.json"));
  await mcpx(["add", "a", "--config", "link.json", "--force", "--", "a"], { cwd });
  expect(JSON.parse(readFileSync(real, "utf8"))).toEqual({ mcpServers: { a: { command: "a" } } });
});

test("a path given from here is meant from here, wherever the file is", async () => {
  const [cwd, dataDir] = [scratch(), scratch()];
  await mcpx(["add", "here", "--data", dataDir, "--", "node", "./server.js"], { cwd });
  expect(JSON.parse(readFileSync(join(dataDir, "mcpx.json"), "utf8")).mcpServers.here).toEqual({
    command: "node",
    args: ["./server.js"],
    cwd,
  });
});

test("remove names what is there", async () => {
  const dataDir = scratch();
  expect((await mcpx(["remove", "x", "--data", dataDir], { cwd: dataDir })).err).toBe(
    `mcpx: there is no server x in ${join(dataDir, "mcpx.json")}; it has none`,
  );
  writeFileSync(join(dataDir, "mcpx.json"), '{ "mcpServers": { "files": { "command": "x" } } }');
  expect((await mcpx(["remove", "file", "--data", dataDir], { cwd: dataDir })).err).toMatch(
    /; did you mean files\?$/,
  );
});

test("the era a server is spoken to in is kept with it, and no other word is taken for one", async () => {
  const dataDir = scratch();
  const add = (...more: string[]) =>
    mcpx(["add", "notes", "https://notes.example.com/mcp", "--data", dataDir, ...more], { cwd: scratch() });
  expect((await add("--era", "legacy")).code).toBe(0);
  expect(JSON.parse(readFileSync(join(dataDir, "mcpx.json"), "utf8")).mcpServers.notes).toEqual({
    url: "https://notes.example.com/mcp",
    era: "legacy",
  });
  const { code, err } = await add("--era", "2025", "--replace");
  expect(code).toBe(2);
  expect(err).toContain("expected auto, legacy or modern");
});
