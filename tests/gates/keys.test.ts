// Keys that a program alone cannot use: sealed by a passphrase that is typed at a real terminal, or in a real ssh-agent
// that asks before it signs. And what an agent with a shell, as the same user, gets from them.
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { mcpx, start } from "../cli/support/mcpx-process.ts";
import { openTerminal } from "../cli/support/typed-terminal.ts";
import { mcpxCommand } from "../support/programs.ts";
import { type Gated, gatedHome } from "./support/gated.ts";
import { startSshAgent } from "./support/ssh-agents.ts";

const slow = { timeout: 240_000 };
const passphrase = "correct horse battery";

function atTerminal(gated: Gated, args: readonly string[], env: Record<string, string> = {}) {
  return openTerminal([...args, "--data", gated.dataDir], { cwd: gated.dataDir, env });
}

/** With a sealed key of alice that approves. */
async function startSealed(): Promise<Gated> {
  const gated = gatedHome();
  await gated.start();
  const terminal = atTerminal(gated, ["key", "new"]);
  await terminal.until(/New passphrase for \S+default\.jwk \(at least 8 characters\): /);
  terminal.press(`${passphrase}\r`);
  await terminal.until(/Repeat the passphrase: /);
  terminal.press(`${passphrase}\r`);
  expect(await terminal.ended).toBe(0);
  // What is typed is not shown.
  expect(terminal.shown()).not.toContain(passphrase);
  expect(await gated.run("key", "enroll", "alice")).toMatchObject({ code: 0 });
  return gated;
}

async function waitingCall(gated: Gated, paper: string): Promise<string> {
  const agent = await gated.agent("agent");
  await agent.call("papers.shred", { paper });
  const [gate] = await gated.pending();
  return gate?.id ?? "";
}

test(
  "[B-KEY-1] key new seals the key, and approve asks for the passphrase after it has shown the call",
  slow,
  async () => {
    const gated = await startSealed();
    const path = join(gated.dataDir, "keys", "default.jwk");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({
      format: "mcpx-key",
      kept: "sealed",
      kdf: { name: "scrypt" },
    });
    expect(readFileSync(path, "utf8")).not.toContain('"d"');
    expect((await gated.run("key", "list")).out).toMatch(/^alice +key +sealed +\S{43}$/m);
    const id = await waitingCall(gated, "taxes");

    const terminal = atTerminal(gated, ["approve", id]);
    await terminal.until(/taxes/);
    await terminal.until(/Approve exactly this, once\?/);
    terminal.press("y\r");
    await terminal.until(/Passphrase of \S+: /);
    terminal.press("wrong horse\r");
    await terminal.until(/Wrong passphrase\. Passphrase of \S+: /);
    terminal.press(`${passphrase}\r`);
    expect(await terminal.ended).toBe(0);
    expect(terminal.shown()).not.toContain(passphrase);
    expect(gated.traces()).toEqual(['shred {"paper":"taxes"}']);
  },
);

test(
  "[B-KEY-1] no argument, variable or pipe gives a passphrase, and nothing is made or signed without a terminal",
  slow,
  async () => {
    const gated = await startSealed();
    const id = await waitingCall(gated, "taxes");
    // In a session of its own, as a daemon or an agent's sandbox runs it, there is no terminal.
    const alone = (args: readonly string[]) => {
      const command = start([...args, "--data", gated.dataDir], {
        program: ["setsid", "-w", ...mcpxCommand],
        env: { MCPX_PASSPHRASE: passphrase, PASSPHRASE: passphrase, SSH_ASKPASS: "/bin/true" },
        isTyped: true,
      });
      for (let line = 0; line < 4; line += 1) command.type(passphrase);
      command.type();
      return command;
    };
    const approving = alone(["approve", id, "--yes"]);
    expect(await approving.ended).toMatchObject({ code: 1 });
    expect(approving.err.join()).toContain("this needs a passphrase, and there is no terminal to ask for it");
    const other = join(gated.dataDir, "keys", "other.jwk");
    const making = alone(["key", "new", "--out", other]);
    expect(await making.ended).toMatchObject({ code: 1 });
    expect(existsSync(other)).toBe(false);
    expect(await mcpx(["approve", id, "--yes", "--passphrase", passphrase])).toMatchObject({ code: 2 });
    expect(gated.traces()).toEqual([]);
  },
);

test(
  "[B-KEY-1] an agent with a shell and a terminal of its own does not get past the passphrase",
  slow,
  async () => {
    const gated = await startSealed();
    const id = await waitingCall(gated, "taxes");
    const terminal = atTerminal(gated, ["approve", id, "--yes"]);
    for (const guess of ["password", "", "mcpx"]) {
      await terminal.until(/Passphrase of \S+: /);
      terminal.press(`${guess}\r`);
    }
    expect(await terminal.ended).toBe(1);
    expect(terminal.shown()).toContain("none of 3 passphrases opens");
    expect(gated.traces()).toEqual([]);
    expect(await gated.pending()).toHaveLength(1);
    // The control: whoever has it does.
    const owner = atTerminal(gated, ["approve", id, "--yes"]);
    await owner.until(/Passphrase of \S+: /);
    owner.press(`${passphrase}\r`);
    expect(await owner.ended).toBe(0);
    expect(gated.traces()).toHaveLength(1);
  },
);

test(
  "[B-KEY-1] a plain key is enrolled only by a flag that says so, is named, and is sealed in its place",
  slow,
  async () => {
    const gated = gatedHome();
    await gated.start();
    expect(await gated.run("key", "new", "--unsealed")).toMatchObject({ code: 0 });
    expect(await gated.run("key", "enroll", "alice")).toMatchObject({
      code: 1,
      err: expect.stringContaining("every program that runs as you could approve with it; seal it with"),
    });
    expect(await gated.run("key", "enroll", "alice", "--unsealed")).toMatchObject({ code: 0 });
    expect((await gated.run("key", "list")).err).toContain("alice approves with a plain key file");
    expect((await gated.run("doctor")).out).toMatch(
      /warning {2}keys: alice approves with a plain key file.*\n.*key seal/,
    );
    const path = join(gated.dataDir, "keys", "default.jwk");
    const { d } = JSON.parse(readFileSync(path, "utf8"));
    const terminal = atTerminal(gated, ["key", "seal"]);
    for (const asked of [/New passphrase/, /Repeat the passphrase: /]) {
      await terminal.until(asked);
      terminal.press(`${passphrase}\r`);
    }
    expect(await terminal.ended).toBe(0);
    expect(readFileSync(path, "utf8")).not.toContain(d);
    expect((await gated.run("key", "list")).err).not.toContain("plain key file");
    expect((await gated.run("doctor")).out).toContain("1 approver, none with a plain key file");
    // It is the same key: what it was enrolled for stays.
    const id = await waitingCall(gated, "taxes");
    const approving = atTerminal(gated, ["approve", id, "--yes"]);
    await approving.until(/Passphrase of \S+: /);
    approving.press(`${passphrase}\r`);
    expect(await approving.ended).toBe(0);
    expect(gated.traces()).toHaveLength(1);
  },
);

test(
  "[B-KEY-1] a room's approver decides in mcpx join with a sealed key, asked for above the prompt",
  slow,
  async () => {
    const gated = gatedHome({ room: "ops" });
    await gated.start();
    const key = atTerminal(gated, ["key", "new"]);
    for (const asked of [/New passphrase/, /Repeat the passphrase: /]) {
      await key.until(asked);
      key.press(`${passphrase}\r`);
    }
    expect(await key.ended).toBe(0);
    await gated.run("key", "enroll", "alice");
    const join = atTerminal(gated, ["join", "ops", "--id", "alice"]);
    await join.until(/ops> /);
    await waitingCall(gated, "taxes");
    await join.until(/\/approve 1/);
    join.press("/approve 1\r");
    await join.until(/Passphrase of \S+: /);
    join.press(`${passphrase}\r`);
    await expect.poll(() => gated.traces()).toEqual(['shred {"paper":"taxes"}']);
    // And goes on talking.
    join.press("done then\r");
    await join.until(/done then/);
    join.press("/quit\r");
    expect(await join.ended).toBe(0);
    expect(join.shown()).not.toContain(passphrase);
  },
);

test(
  "[B-KEY-1] a key in ssh-agent signs when the agent's owner confirms it, and not when they do not",
  slow,
  async () => {
    const agent = await startSshAgent();
    const gated = gatedHome();
    await gated.start();
    const run = (...args: string[]) => mcpx([...args, "--data", gated.dataDir], { env: agent.env });
    expect(await run("key", "new", "--ssh-agent", "somebody")).toMatchObject({
      code: 1,
      err: expect.stringContaining('it has "alice@laptop"'),
    });
    expect(await run("key", "new", "--ssh-agent", "alice@laptop")).toMatchObject({ code: 0 });
    expect(await run("key", "enroll", "alice")).toMatchObject({ code: 0 });
    expect((await run("key", "list")).out).toMatch(/^alice +key +ssh-agent /m);
    const id = await waitingCall(gated, "taxes");
    expect(await run("approve", id, "--yes")).toMatchObject({
      code: 1,
      err: expect.stringContaining("ssh-agent does not say whether it asks you"),
    });
    expect(agent.asked()).toBe(0);
    const decide = async () => {
      const terminal = atTerminal(gated, ["approve", id], agent.env);
      await terminal.until(/Approve exactly this, once\?/);
      terminal.press("y\r");
      return { code: await terminal.ended, shown: terminal.shown() };
    };
    expect(await decide()).toMatchObject({
      code: 1,
      shown: expect.stringContaining("ssh-agent did not sign it"),
    });
    expect(agent.asked()).toBe(1);
    expect(gated.traces()).toEqual([]);
    agent.answer("yes");
    expect(await decide()).toMatchObject({ code: 0 });
    expect(agent.asked()).toBe(2);
    expect(gated.traces()).toEqual(['shred {"paper":"taxes"}']);
    // Without an agent there is nobody to sign.
    expect(await gated.run("key", "new", "--out", "x.jwk", "--ssh-agent", "alice@laptop")).toMatchObject({
      code: 1,
    });
  },
);
