// Servers that run as users of their own, in a gateway that has no right to become one: what is installed, and a real
// launcher, started by systemd's own socket activation, with the gateway and the server as two different users. As root only.
// [B-KEY-3]
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { mcpxCommand, programArgs } from "../support/programs.ts";
import { connectSdk } from "../tree/support/sdk-callers.ts";
import { mcpx, scratch, start } from "./support/mcpx-process.ts";
import { hasTool, image, textsIn } from "./support/service-image.ts";

const isRoot = process.getuid?.() === 0 && ["useradd", "systemctl"].every(hasTool);
const slow = { timeout: 120_000 };
const systemd = "etc/systemd/system";

function imageWithBob(): string {
  const root = image();
  writeFileSync(join(root, "etc/passwd"), "root:x:0:0::/root:/bin/sh\nbob:x:4321:4321::/home/bob:/bin/sh\n");
  return root;
}

test.skipIf(!isRoot)(
  "[B-KEY-3] install --run-as makes a launcher's socket for the gateway alone; later installs keep it; uninstall undoes it to the byte",
  slow,
  async () => {
    const root = imageWithBob();
    const before = textsIn(root);
    const install = (...more: string[]) => mcpx(["service", "install", "--root", root, ...more]);
    const { out: shown } = await install("--run-as", "bob", "--dry");
    expect(shown).toMatch(/^would {3}let the gateway start servers as bob$/m);
    expect(shown).toMatch(/^ {10}SocketUser=mcpx$/m);
    expect(textsIn(root)).toEqual(before);
    for (const [name, why] of [
      ["mallory", "servers cannot run as mallory"],
      ["root", "cannot be the user of a service"],
      ["mcpx", "servers run as mcpx anyway"],
    ] as const) {
      expect(await install("--run-as", name)).toMatchObject({ err: expect.stringContaining(why) });
    }
    expect((await install("--run-as", "bob")).code).toBe(0);
    expect(readFileSync(join(root, systemd, "mcpx-as@.socket"), "utf8")).toContain(
      "ListenStream=/run/mcpx-launchers/%i.sock\nSocketUser=mcpx\nSocketMode=0600\n",
    );
    expect(readFileSync(join(root, systemd, "mcpx-as@.service"), "utf8")).toMatch(
      /User=%i\nExecStart=\S+ .* service launch\n/,
    );
    expect((await install()).out).toMatch(/^exists {2}let the gateway start servers as bob$/m);
    expect((await mcpx(["service", "status", "--root", root])).out).toContain("start servers as bob");
    expect((await mcpx(["service", "uninstall", "--purge", "--root", root])).code).toBe(0);
    expect(textsIn(root)).toEqual(before);
  },
);

test.skipIf(!isRoot || !hasTool("systemd-analyze"))(
  "[B-KEY-3] systemd finds the units of gateway and launcher sound",
  slow,
  async () => {
    const root = imageWithBob();
    await mcpx(["service", "install", "--root", root, "--run-as", "bob"]);
    const verify = (...names: string[]) => {
      const units = names.map((name) => join(root, systemd, name));
      const { status, stderr } = spawnSync("systemd-analyze", ["verify", "--man=no", ...units], {
        encoding: "utf8",
      });
      return { status, about: stderr.split("\n").filter((line) => line.includes(root)) };
    };
    const all = ["mcpx.service", "mcpx-as@.socket", "mcpx-as@.service"];
    expect(verify(...all)).toEqual({ status: 0, about: [] });
    const path = join(root, systemd, "mcpx.service");
    writeFileSync(path, readFileSync(path, "utf8").replace("ExecStart=", "ExecStrat="));
    expect(verify("mcpx.service").about.join()).toContain("ExecStrat");
  },
);

const gatewayUser = { name: "daemon", uid: 1, gid: 1 };
const serverUser = { name: "games", uid: 5, gid: 60 };
const as = ({ uid, gid }: typeof gatewayUser, ...command: string[]): [string, ...string[]] => [
  "setpriv",
  ...[`--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", "--"],
  ...command,
];

/** As the socket's unit does it. */
async function startLauncher(dir: string): Promise<number> {
  const path = join(dir, `${serverUser.name}.sock`);
  const words = [
    "-l",
    path,
    "-E",
    `PATH=${process.env.PATH}`,
    ...as(serverUser, ...mcpxCommand, "service", "launch"),
  ];
  const launcher = spawn("systemd-socket-activate", words, { stdio: ["ignore", "ignore", "pipe"] });
  onTestFinished(async () => {
    const over = once(launcher, "exit");
    launcher.kill();
    expect(await over).toEqual([0, null]);
  });
  await once(createInterface({ input: launcher.stderr }), "line");
  chownSync(path, gatewayUser.uid, gatewayUser.gid);
  chmodSync(path, 0o600);
  return launcher.pid ?? 0;
}

test.skipIf(!isRoot || !hasTool("systemd-socket-activate") || !hasTool("setpriv"))(
  "[B-KEY-3] a server runs as its configured user, ends with the gateway, and is not started where that user has no launcher",
  slow,
  async () => {
    const [data, theirs, dir] = [scratch(), scratch(), scratch()];
    chmodSync(dir, 0o755);
    chmodSync(theirs, 0o700);
    chownSync(theirs, serverUser.uid, serverUser.gid);
    chownSync(data, gatewayUser.uid, gatewayUser.gid);
    const launcherPid = await startLauncher(dir);
    const traces = join(theirs, "traces");
    const papers = (user?: string) => ({
      ...{ command: process.execPath, args: [...programArgs("tests/gates/support/shredder.ts"), traces] },
      ...{ trusted: true, ...(user && { user }) },
    });
    // Without a user it runs as the gateway's, who cannot write there: the control.
    const mcpServers = { papers: papers("games"), plain: papers(), lost: papers("man") };
    writeFileSync(join(data, "mcpx.json"), JSON.stringify({ mcpServers }));
    const env = { MCPX_LAUNCHERS: dir };
    const program = as(gatewayUser, ...mcpxCommand);
    const gateway = start(["up", "--data", data, "--no-demo", "--port", "0"], { program, cwd: "/", env });
    const url = /http:\/\/\S+?:\d+/.exec(await gateway.line(/http:\/\/\S+:\d+/))?.[0] ?? "";
    const { out: token } = await mcpx(["token", "--id", "agent", "--tools", "**", "--data", data], {
      program,
    });
    const caller = await connectSdk("v1", { url: `${url}/mcp`, token });
    expect(await caller.call("papers.look", {})).toContain("look is done");
    expect(statSync(traces).uid).toBe(serverUser.uid);
    expect(await caller.call("plain.look", {}).catch(String)).not.toContain("look is done");
    expect(await caller.call("lost.look", {}).catch(String)).toMatch(
      /cannot be started as user man: its launcher cannot be reached \(ENOENT\)/,
    );
    // Nobody but the gateway's user may ask the launcher.
    const socket = join(dir, "games.sock");
    const knock = `require("net").connect("${socket}").on("connect",()=>process.exit(0)).on("error",()=>process.exit(1))`;
    const knockAs = (user: typeof gatewayUser) =>
      spawnSync("setpriv", as(user, process.execPath, "-e", knock).slice(1)).status;
    expect([knockAs({ name: "nobody", uid: 65_534, gid: 65_534 }), knockAs(gatewayUser)]).toEqual([1, 0]);
    const kids = () => readFileSync(`/proc/${launcherPid}/task/${launcherPid}/children`, "utf8").trim();
    expect(kids()).not.toBe("");
    await caller.close();
    gateway.kill("SIGKILL");
    await expect.poll(kids, { timeout: 20_000 }).toBe("");
  },
);

test.skipIf(!isRoot)(
  "[B-KEY-3] a launcher in a directory that others may write to is not asked",
  slow,
  async () => {
    const { openStdioWire } = await import("@mcpx/aggregator");
    const dir = join(scratch(), "open");
    mkdirSync(dir);
    chmodSync(dir, 0o777);
    const taker = { message: () => {}, logLine: () => {}, closed: () => {} };
    const tried = (socket: string | undefined) =>
      openStdioWire(
        { command: "true", args: [], cwd: "", env: {}, as: { user: "games", socket } },
        taker as never,
      );
    await expect(tried(join(dir, "games.sock"))).rejects.toThrow("others than root may write to");
    await expect(tried(undefined)).rejects.toThrow("this gateway has no launchers");
  },
);
