// A machine with a real systemd: namespaces of its own over a copy of this system that is thrown away. As root only, and
// only where the kernel lets us. What is installed there is gone with it.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { scratch } from "./mcpx-process.ts";

const repository = join(import.meta.dirname, "../../..");
const namespaces = ["--mount", "--pid", "--fork", "--uts", "--ipc", "--cgroup", "--net", "--kill-child"];

export interface Machine {
  /** A command to its end, as root there. */
  run(...command: string[]): { status: number | null; out: string; err: string };
  /** The same as another user. */
  runAs(user: { uid: number; gid: number }, ...command: string[]): ReturnType<Machine["run"]>;
  /** `mcpx`, from where the repository is there. */
  mcpx(at: "/opt/mcpx" | "/tmp/mcpx", ...args: string[]): [string, ...string[]];
}

/** Why there can be none here; nothing where there can. */
export function machineFault(): string | undefined {
  if (process.getuid?.() !== 0) return "only root makes namespaces";
  if (!existsSync("/lib/systemd/systemd")) return "there is no systemd";
  const probe =
    "mount -t tmpfs tmpfs /mnt && mkdir /mnt/u /mnt/w /mnt/m && cd /mnt && mount -t overlay o -o lowerdir=/etc,upperdir=u,workdir=w m && mount -t cgroup2 c m";
  const { status } = spawnSync("unshare", [...namespaces, "sh", "-c", probe]);
  return status === 0 ? undefined : "the kernel gives us no namespaces, overlays or control groups";
}

export async function startMachine(): Promise<Machine> {
  const script = join(import.meta.dirname, "systemd-machine.sh");
  const outer = spawn("unshare", [...namespaces, "sh", script, repository, scratch()], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  outer.stderr?.on("data", (text) => {
    said += text;
  });
  const over = once(outer, "close");
  onTestFinished(async () => {
    outer.kill("SIGKILL");
    await over;
  });
  const enter = () => ["-t", String(childOf(outer)), "-m", "-p", "-u", "-i", "-C", "-n", "-r", "-w"];
  const run: Machine["run"] = (...command) => {
    const { status, stdout, stderr } = spawnSync("nsenter", [...enter(), ...command], {
      encoding: "utf8",
      env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", NO_COLOR: "1", HOME: "/nonexistent" },
      timeout: 60_000,
    });
    return { status, out: stdout, err: stderr };
  };
  const isUp = () => childOf(outer) !== undefined && run("systemctl", "is-active", "multi-user.target").out;
  await expect.poll(isUp, { timeout: 60_000, interval: 200, message: said }).toBe("active\n");
  return {
    run,
    runAs: ({ uid, gid }, ...command) =>
      run("setpriv", `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", "--", ...command),
    mcpx: (at, ...args) => [
      process.execPath.replace(repository, at),
      "--conditions=mcpx-source",
      `${at}/packages/cli/src/main.ts`,
      ...args,
    ],
  };
}

/** The first process of its namespaces. */
function childOf({ pid }: ChildProcess): number | undefined {
  for (const thread of pid === undefined ? [] : readdirSync(`/proc/${pid}/task`)) {
    const [child] = readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").trim().split(" ");
    if (child !== undefined && child !== "") return Number(child);
  }
  return undefined;
}
