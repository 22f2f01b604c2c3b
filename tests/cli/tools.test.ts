// `mcpx tools`: looking at tools, changing what is set for them, and accepting those that have changed.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { type Changing, changing, tool } from "../tree/pins/support/changing.ts";
import { mcpx, scratch, up } from "./support/mcpx-process.ts";

const reading = { annotations: { readOnlyHint: true } };
const tools = [
  tool("readFile", "Reads a file\nwith \u001b[31mcolours\u200f", reading),
  tool("write", "Writes a file"),
];

interface Stage {
  dir: string;
  path: string;
  server: Changing;
  run(...args: string[]): ReturnType<typeof mcpx>;
  config(): Record<string, never>;
}

/** A configuration with comments, in a directory that is also the data directory. */
function stage(): Stage {
  const dir = scratch();
  const path = join(dir, "mcpx.json");
  const server = changing(tools);
  const { command, args } = server;
  writeFileSync(
    path,
    `{
  // mine
  "mcpServers": {
    "files": {
      "command": ${JSON.stringify(command)}, // node
      "args": ${JSON.stringify(args)},
      "trusted": true
    }
  }
}
`,
  );
  return {
    dir,
    path,
    server,
    run: (...words) => mcpx([...words, "--data", dir], { cwd: dir }),
    config: () => JSON.parse(readFileSync(path, "utf8").replace(/\/\/ \w+/g, "")).mcpServers.files.tools,
  };
}

test("the list shows danger, latency and server, for people and for programs", async () => {
  const { dir, run } = stage();
  await up(dir, [], { cwd: dir });
  const { out, code } = await run("tools", "files.*");
  expect(code).toBe(0);
  expect(out.split("\n")).toEqual([
    "   files.read_file  standard  files  ⚠ hides or imitates something; Reads a file",
    "!  files.write      standard  files  Writes a file",
  ]);
  const { tools: rows } = JSON.parse((await run("tools", "--json")).out);
  expect(rows.map(({ name }: { name: string }) => name)).toEqual([
    "files.read_file",
    "files.write",
    "mcpax.ask",
    "mcpax.notifications_dropped",
    "mcpax.routes",
    "mcpax.status",
    "mcpax.subservers",
    "mcpax.wait",
  ]);
  expect(rows[1]).toEqual({
    name: "files.write",
    server: "files",
    danger: "irreversible",
    latency: "standard",
    description: "Writes a file",
    state: "listed",
    warnings: 0,
  });
  expect(rows[0]).toMatchObject({ name: "files.read_file", warnings: 1 });
  expect((await run("tools", "nothing.*")).err).toBe("mcpx: no tool is called nothing.*");
});

test("one tool is shown in full, and nothing of it reaches the terminal raw", {
  timeout: 90_000,
}, async () => {
  const { dir, run } = stage();
  await up(dir, [], { cwd: dir });
  const { out } = await run("tools", "show", "files.read_file");
  expect(out).toContain("from     files (changing 1.0.0)");
  expect(out).toContain("danger   only reads");
  expect(out).toContain("with \\u001b[31mcolours\\u200f");
  expect(out).toContain(
    "⚠ description contains 2 hidden characters: U+001B (control) at 18, U+200F (direction mark) at 30",
  );
  expect(out).toContain('"path":{"type":"string"}');
  expect(JSON.parse((await run("tools", "show", "files.write", "--json")).out)).toMatchObject({
    name: "files.write",
    server: "files",
  });
  const mistyped = await run("call", "files.writ", "--yes");
  expect([mistyped.code, mistyped.err]).toEqual([
    1,
    "mcpx: there is no tool files.writ; did you mean files.write? see npx mcpx tools",
  ]);
  expect((await run("tools", "show", "files.writ")).err).toBe(
    "mcpx: there is no tool files.writ; did you mean files.write? see npx mcpx tools",
  );
});

test("edits keep comments, are shown with their undo, and a running gateway takes them over", async () => {
  const { dir, path, run, config } = stage();
  await up(dir, [], { cwd: dir });
  const before = readFileSync(path, "utf8");
  const disabled = await run("tools", "disable", "files.read_file");
  expect(disabled.code).toBe(0);
  expect(disabled.out.split("\n")[0]).toBe(`disabled files.read_file in ${path}`);
  expect(disabled.out).toContain('  +           "enabled": false');
  expect(disabled.err).toMatch(/undo: mv \S+\.bak \S+mcpx\.json/);
  expect(disabled.err).toContain("applies this by itself, or says that it needs a restart");
  const after = readFileSync(path, "utf8");
  expect([after.includes("// mine"), after.includes("// node")]).toEqual([true, true]);
  // By the name its server knows, which is not the one in the tree.
  expect(config()).toEqual({ readFile: { enabled: false } });
  await vi.waitFor(async () => expect((await run("tools")).out).not.toContain("files.read_file"), {
    timeout: 20_000,
  });
  expect((await run("tools", "disable", "files.read_file")).out).toContain("nothing was written");
  await run("tools", "enable", "files.read_file");
  expect(readFileSync(path, "utf8")).toBe(before);
});

test("without a gateway the name is taken for the server's own, or for one that is set", async () => {
  const { run, config } = stage();
  await run("tools", "describe", "files.write", "Writes, carefully");
  await run("tools", "rename", "files.write", "put");
  const fixed = await run("tools", "fix", "files.put", 'api_key="s3cr3t-value"');
  expect(fixed.code).toBe(0);
  expect(fixed.out + fixed.err).not.toContain("s3cr3t-value");
  const put = { description: "Writes, carefully", name: "put" };
  expect(config()).toEqual({ write: { ...put, arguments: { api_key: "s3cr3t-value" } } });
  await run("tools", "fix", "files.put", "api_key=");
  expect(config()).toEqual({ write: put });
  await run("tools", "describe", "files.put", "");
  expect(config()).toEqual({ write: { name: "put" } });
});

test("a tool the lists keep out is enabled by name", async () => {
  const { run, path, config } = stage();
  writeFileSync(path, readFileSync(path, "utf8").replace('"trusted": true', '"deny": ["*"]'));
  await run("tools", "enable", "files.write");
  expect(config()).toEqual({ write: { enabled: true } });
});

test.each([
  [["tools", "rename", "files.write", "Not One"], 2, "cannot be a tool's name"],
  [["tools", "rename", "files.write"], 2, "missing argument: NEW"],
  [["tools", "fix", "files.write", "path"], 2, "no name or no value"],
  [["tools", "fix", "files.write", "path=secret words"], 2, "the value of path is not JSON"],
  [["tools", "accept"], 2, "accept needs the name of a tool, or --all"],
  [["tools", "accept", "a.b", "--all"], 2, "accept needs the name of a tool, or --all"],
  [["tools", "disable", "file.write"], 1, "has no server for file.write; did you mean files?"],
  [["tools", "disable", "files.__proto__"], 1, "nothing was written, it would be wrong"],
  [["tools", "fix", "files.write", "__proto__=1"], 1, "nothing was written, it would be wrong"],
  [["tools"], 1, "no gateway is running"],
  [["tools", "diff", "files.write"], 1, "there is no data of a gateway"],
])("%j is one line, exit %i", async (args, code, fault) => {
  const { run, path, dir } = stage();
  const before = readFileSync(path, "utf8");
  const finished = await run(...args);
  expect({ code: finished.code, err: finished.err }).toEqual({ code, err: expect.stringContaining(fault) });
  expect(finished.err).not.toMatch(/\n|secret/);
  expect(readFileSync(path, "utf8")).toBe(before);
  expect(readdirSync(dir).filter((name) => name.endsWith(".bak"))).toEqual([]);
});

test("two tools of one name are refused", async () => {
  const { run } = stage();
  await run("tools", "rename", "files.write", "x");
  const { err, code } = await run("tools", "rename", "files.other", "x");
  expect([code, err]).toEqual([1, expect.stringContaining("has two tools named x")]);
});

/** Both tools have changed while no gateway ran. */
async function changed(): Promise<Stage> {
  const made = stage();
  const gateway = await up(made.dir, [], { cwd: made.dir });
  await made.run("tools");
  made.server.become([tool("readFile", "Reads \u200bmuch more", reading), tool("write", "Deletes a file")]);
  gateway.kill("SIGTERM");
  await gateway.ended;
  return made;
}

test("a changed tool is listed as such, looked at and accepted", async () => {
  const { dir, run } = await changed();
  await up(dir, [], { cwd: dir });
  expect((await run("tools", "files.*")).out.split("\n")).toEqual([
    "?  files.read_file    files  held back: changed or hides text",
    "?  files.write        files  held back: changed or hides text",
  ]);
  expect((await run("tree")).out).toContain("has changed: files.write; see npx mcpx tools diff files.write");
  const diff = await run("tools", "diff", "files.read_file");
  expect(diff.out.split("\n").slice(1)).toEqual([
    "  - description: Reads a file",
    "  - description: with \\u001b[31mcolours\\u200f",
    "  + description: Reads \\u200bmuch more",
  ]);
  expect(diff.err).toBe("accept it: npx mcpx tools accept files.read_file");
  expect((await run("tools", "accept", "files.read_file")).out).toMatch(/much more\naccepted$/);
  expect((await run("call", "files.read_file", '{"path": "x"}', "--yes")).out).toContain('"name":"readFile"');
  expect((await run("tools", "accept", "files.read_file")).err).toBe("mcpx: files.read_file has not changed");
});

test("what is still held back says what to do, and what is not there is told apart", async () => {
  const { dir, run } = await changed();
  await up(dir, [], { cwd: dir });
  const shown = await run("tools", "show", "files.write");
  expect(shown.err).toContain("look at it with npx mcpx tools diff files.write");
  const refused = await run("call", "files.write", "{}", "--yes");
  expect(refused.code).toBe(1);
  expect(refused.err).toContain(
    "has changed since it was first seen, or hides text: files.write; Look at the change",
  );
  const none = await run("tools", "accept", "files.none");
  expect(none.err).toBe("mcpx: there is no tool files.none; see npx mcpx tools");
});

test("changes that were seen can be looked at and accepted when no gateway runs", async () => {
  const { dir, run } = await changed();
  const gateway = await up(dir, [], { cwd: dir });
  await run("tools");
  gateway.kill("SIGTERM");
  await gateway.ended;
  expect((await run("tools", "diff", "files.write")).out).toContain("+ description: Deletes a file");
  const { accepted } = JSON.parse((await run("tools", "accept", "--all", "--json")).out);
  expect(accepted).toMatchObject([
    { canonical: "files.read_file" },
    { canonical: "files.write", tool: "write" },
  ]);
  expect((await run("tools", "accept", "--all")).out).toBe("no tool has changed");
  expect((await run("audit", "--action", "tool.accept")).out).toContain("files.write");
  await up(dir, [], { cwd: dir });
  expect((await run("tools", "files.*")).out).not.toContain("has changed");
});

test("a server that is taken out is forgotten: under its name whatever comes is new", {
  timeout: 60_000,
}, async () => {
  const { dir, run, server } = await changed();
  const gateway = await up(dir, [], { cwd: dir });
  // What it would be otherwise.
  expect((await run("tools", "files.*")).out).toContain("?  files.write");
  gateway.kill("SIGTERM");
  await gateway.ended;
  const removed = await run("remove", "files");
  expect(removed.err).toContain("the pins of 2 tools are forgotten");
  expect((await run("audit", "--action", "tool.forget")).out).toContain("files");
  await mcpx(["add", "files", "--data", dir, "--", server.command, ...server.args], { cwd: dir });
  await up(dir, [], { cwd: dir });
  expect((await run("tools", "files.*")).out.split("\n")).toEqual([
    "!  files.read_file  standard  files  ⚠ hides or imitates something; Reads \\u200bmuch more",
    "!  files.write      standard  files  Deletes a file",
  ]);
});
