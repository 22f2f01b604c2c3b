// The gateway as a user of its own: installed below a directory, with the real tools; and then really run as that user,
// with an agent beside it that is another. As root only: nobody else makes users. [B-KEY-3]
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { mcpxCommand, programArgs } from "../support/programs.ts";
import { connectSdk } from "../tree/support/sdk-callers.ts";
import { mcpx, start } from "./support/mcpx-process.ts";
import { otherUserIdeas, tryAll } from "./support/other-user-ideas.ts";
import { filesIn, hasTool, image, textsIn } from "./support/service-image.ts";

const isRoot = process.getuid?.() === 0 && ["useradd", "userdel", "systemctl"].every(hasTool);
const slow = { timeout: 120_000 };
const unit = "etc/systemd/system/mcpx.service";
const nobody = 65_534;

test("[B-KEY-3] --dry shows every step and file, for everybody, and does nothing", slow, async () => {
  const root = image();
  const before = filesIn(root);
  const { code, out } = await mcpx(["service", "install", "--dry", "--root", root]);
  expect(code).toBe(0);
  expect(out).toMatch(/^would {3}make the user mcpx, who cannot log in$/m);
  expect(out).toMatch(/^ {10}ExecStart=\S+ .*up --data \/var\/lib\/mcpx --no-demo$/m);
  expect(filesIn(root)).toEqual(before);
});

test.skipIf(!isRoot)(
  "[B-KEY-3] install makes user, directory and unit; twice is as once; uninstall undoes it to the byte",
  slow,
  async () => {
    const root = image();
    const before = textsIn(root);
    const at = ["--root", root];
    expect((await mcpx(["service", "status", ...at])).code).toBe(1);
    const installed = await mcpx(["service", "install", ...at]);
    expect(installed).toMatchObject({ code: 0, out: expect.stringMatching(/^done {4}make the user mcpx/) });
    const [, , uid] = readFileSync(join(root, "etc/passwd"), "utf8").split(":");
    const data = statSync(join(root, "var/lib/mcpx"));
    expect([data.uid, data.mode & 0o777]).toEqual([Number(uid), 0o700]);
    expect(await mcpx(["service", "status", ...at])).toMatchObject({ code: 0 });
    expect((await mcpx(["service", "install", ...at])).out).not.toContain("done");
    // A unit that somebody has changed is told.
    writeFileSync(join(root, unit), readFileSync(join(root, unit), "utf8").replace("User=mcpx", "User=root"));
    expect((await mcpx(["service", "status", ...at])).out).toContain("differs from what this version writes");
    writeFileSync(join(root, "var/lib/mcpx/kept"), "");
    expect((await mcpx(["service", "uninstall", ...at])).code).toBe(0);
    expect(existsSync(join(root, "var/lib/mcpx/kept"))).toBe(true);
    expect(existsSync(join(root, unit))).toBe(false);
    expect((await mcpx(["service", "uninstall", "--purge", ...at])).code).toBe(0);
    expect(textsIn(root)).toEqual(before);
  },
);

test.skipIf(!isRoot)("[B-KEY-3] what fails is undone, and says why", slow, async () => {
  const root = image();
  writeFileSync(join(root, "etc/systemd"), "a file where a directory should be");
  const before = textsIn(root);
  const { code, out, err } = await mcpx(["service", "install", "--root", root]);
  expect([code, err]).toEqual([1, expect.stringContaining("write /etc/systemd/system/mcpx.service")]);
  expect(out).toMatch(/FAILED {2}write .*\nundone {2}make \/var\/lib\/mcpx.*\nundone {2}make the user mcpx/);
  expect(textsIn(root)).toEqual(before);
});

test.skipIf(!isRoot || !hasTool("systemd-analyze"))(
  "[B-KEY-3] systemd finds the unit sound, and little exposed",
  slow,
  async () => {
    const root = image();
    await mcpx(["service", "install", "--root", root]);
    const path = join(root, unit);
    const { stdout } = spawnSync("systemd-analyze", ["security", "--offline=true", "--no-pager", path], {
      encoding: "utf8",
    });
    const [, exposure] = /Overall exposure level for \S+: ([0-9.]+)/.exec(stdout) ?? [];
    expect(Number(exposure)).toBeLessThanOrEqual(3);
    // The control: a unit without any of it.
    const bare = join(root, "bare.service");
    writeFileSync(bare, "[Service]\nExecStart=/bin/true\n");
    const plain = spawnSync("systemd-analyze", ["security", "--offline=true", "--no-pager", bare], {
      encoding: "utf8",
    });
    expect(Number(/Overall exposure level for \S+: ([0-9.]+)/.exec(plain.stdout)?.[1])).toBeGreaterThan(8);
  },
);

const as = (uid: number, ...command: string[]): [string, ...string[]] => [
  "setpriv",
  ...[`--reuid=${uid}`, `--regid=${uid}`, "--clear-groups", "--"],
  ...command,
];

test.skipIf(!isRoot || !hasTool("setpriv"))(
  "[B-KEY-3] an agent that is another user reaches neither store, keys nor process of the gateway, only its endpoint",
  { timeout: 240_000 },
  async () => {
    const root = image();
    await mcpx(["service", "install", "--root", root]);
    const data = join(root, "var/lib/mcpx");
    const { uid, gid } = statSync(data);
    const traces = join(data, "traces");
    const papers = {
      command: process.execPath,
      args: [...programArgs("tests/gates/support/shredder.ts"), traces],
    };
    writeFileSync(join(data, "mcpx.json"), JSON.stringify({ mcpServers: { papers }, gates: { hold: 0 } }));
    spawnSync("chown", [`${uid}:${gid}`, join(data, "mcpx.json")]);
    const service = as(uid, ...mcpxCommand);
    const agent = as(nobody, ...mcpxCommand);
    const run = (program: typeof service, ...args: string[]) => mcpx([...args, "--data", data], { program });
    const gateway = start(["up", "--data", data, "--no-demo", "--port", "0"], { program: service, cwd: "/" });
    const url = /http:\/\/\S+?:\d+/.exec(await gateway.line(/http:\/\/\S+:\d+/))?.[0] ?? "";
    expect((await run(service, "key", "new", "--unsealed")).code).toBe(0);
    expect((await run(service, "key", "enroll", "alice", "--unsealed")).code).toBe(0);
    const { out: token } = await run(service, "token", "--id", "agent", "--tools", "**");
    const caller = await connectSdk("v1", { url: `${url}/mcp`, token });
    expect(await caller.call("papers.shred", { paper: "taxes" })).toContain("papers.shred was not called");
    const [{ id } = { id: "" }] = JSON.parse((await run(service, "pending", "--json")).out) as {
      id: string;
    }[];
    const shell = (uid: number, script: string) =>
      spawnSync("setpriv", as(uid, "sh", "-c", script).slice(1)).status === 0;
    const beside = (uid: number, program: typeof service) => ({
      ...{ data, url, token, id, pid: gateway.pid },
      shell: (script: string) => shell(uid, script),
      mcpx: async (...args: string[]) => (await run(program, ...args)).code === 0,
    });
    await tryAll(beside(nobody, agent));
    // The controls: the service's user can do what those ideas begin with, and its approver decides.
    const own = beside(uid, service);
    for (const idea of [
      "write its key over the approver's file",
      "write a rule that allows everything",
      "mark the call as approved in the store",
      "look for the approver's key in the gateway's memory",
      "attach a debugger to the gateway and change it",
      "mint a token in the approver's name",
    ]) {
      expect(await otherUserIdeas[idea]?.(own), idea).toBe(true);
    }
    expect(existsSync(traces)).toBe(false);
    expect((await run(service, "approve", id, "--yes")).code).toBe(0);
    expect(readFileSync(traces, "utf8")).toContain("taxes");
    await caller.close();
    gateway.kill("SIGTERM");
    await gateway.ended;
  },
);

test("[B-KEY-3] every idea that is tried as another user is a line of docs/THREATS.md, and stopped there", () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/THREATS.md"), "utf8");
  const [, table = ""] = page.split("| the agent's idea | plain | sealed | own user |");
  const said = (idea: string) => table.split(`| ${idea} |`)[1]?.split(" | ")[2];
  const others = Object.keys(otherUserIdeas).filter((idea) => !said(idea)?.startsWith("stopped"));
  expect(others).toEqual([]);
});
