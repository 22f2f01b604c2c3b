// Real ssh-agents with one key: one that asks somebody before it signs, and one that reaches a FIDO2 key in software.
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { scratch } from "../../cli/support/mcpx-process.ts";

const hasTool = (name: string) => spawnSync("sh", ["-c", `command -v ${name}`]).status === 0;

/** Whether a security key can be made in software here. */
export const canMakeDevices = ["gcc", "ssh-agent", "ssh-keygen", "ssh-add"].every(hasTool);

export interface AskingAgent {
  env: Record<string, string>;
  pid: number;
  /** How often it has asked whether it may sign. */
  asked(): number;
  answer(word: "yes" | "no"): void;
}

async function startAgent(
  socket: string,
  words: string[],
  env: Record<string, string>,
): Promise<ChildProcess> {
  const agent = spawn("ssh-agent", ["-D", ...words, "-a", socket], {
    env: { ...process.env, ...env },
    stdio: "ignore",
  });
  const over = once(agent, "close");
  onTestFinished(async () => {
    agent.kill("SIGTERM");
    await over;
  });
  // Its socket is there a moment before it listens; 2 means that it cannot be asked.
  const asking = { env: { ...process.env, SSH_AUTH_SOCK: socket } };
  await expect.poll(() => spawnSync("ssh-add", ["-l"], asking).status).not.toBe(2);
  return agent;
}

/** Its key is "alice@laptop", added with `ssh-add -c`. */
export async function startSshAgent(): Promise<AskingAgent> {
  const dir = scratch();
  const [socket, key, askpass, answer, log] = ["agent", "id", "askpass", "answer", "asked"].map((name) =>
    join(dir, name),
  ) as [string, string, string, string, string];
  writeFileSync(answer, "no");
  writeFileSync(log, "");
  writeFileSync(askpass, `#!/bin/sh\necho asked >>${log}\n[ "$(cat ${answer})" = yes ]\n`, { mode: 0o700 });
  const env = { SSH_AUTH_SOCK: socket, SSH_ASKPASS: askpass, SSH_ASKPASS_REQUIRE: "force", DISPLAY: ":0" };
  const { pid = 0 } = await startAgent(socket, [], env);
  execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "alice@laptop", "-f", key]);
  execFileSync("ssh-add", ["-q", "-c", key], { env: { ...process.env, ...env }, stdio: "ignore" });
  const asked = () => readFileSync(log, "utf8").split("\n").length - 1;
  return { env, pid, asked, answer: (word) => writeFileSync(answer, word) };
}

export interface Device {
  env: Record<string, string>;
  /** What it does when it is asked; "nobody": it signs, and says that nobody was there. */
  touch(word: "yes" | "no" | "nobody"): void;
}

/** Its key is "alice@key". */
export async function startDevice(): Promise<Device> {
  const dir = scratch();
  const [provider = "", touch = "", socket = "", key = ""] = ["sk.so", "touch", "agent", "id"].map((name) =>
    join(dir, name),
  );
  const source = join(import.meta.dirname, "soft-security-key.c");
  execFileSync("gcc", ["-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", provider, source]);
  const env = { SSH_AUTH_SOCK: socket, SOFT_KEY_TOUCH: touch };
  const options = { env: { ...process.env, ...env }, stdio: "ignore" } as const;
  writeFileSync(touch, "yes");
  const make = ["-q", "-t", "ed25519-sk", "-w", provider, "-N", "", "-C", "alice@key", "-f", key];
  execFileSync("ssh-keygen", make, options);
  await startAgent(socket, ["-P", `${dir}/*`], env);
  execFileSync("ssh-add", ["-q", "-S", provider, key], options);
  return { env, touch: (word) => writeFileSync(touch, word) };
}
