// What an agent with a shell can do as the same user, in a set-up whose approvers' keys it cannot use: what is seen, and
// what is not. docs/THREATS.md says the same.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newKey } from "./attacks/support/keys.ts";
import { type Gated, gatedHome } from "./support/gated.ts";
import { enrol } from "./support/give-grant.ts";

const slow = { timeout: 240_000 };

/** Alice approves with a key that is not on this machine. */
async function startElsewhere(): Promise<Gated> {
  const gated = gatedHome();
  await gated.start();
  enrol(gated.dataDir, "alice", newKey());
  return gated;
}

async function waitingCall(gated: Gated): Promise<string> {
  const agent = await gated.agent("agent");
  await agent.call("papers.shred", { paper: "taxes" });
  const [gate] = await gated.pending();
  return gate?.id ?? "";
}

const actionsOf = async (gated: Gated): Promise<{ action: string; subject?: string; actor?: string }[]> =>
  JSON.parse((await gated.run("audit", "--json")).out).records;

test(
  "[B-KEY-1] an agent with a shell enrols itself with the command: that is in the audit",
  slow,
  async () => {
    const gated = await startElsewhere();
    const id = await waitingCall(gated);
    await gated.run("key", "new", "--unsealed");
    expect((await gated.run("key", "enroll", "mallory", "--unsealed")).code).toBe(0);
    expect((await gated.run("approve", id, "--yes")).code).toBe(0);
    expect(gated.traces()).toHaveLength(1);
    const records = await actionsOf(gated);
    expect(records).toContainEqual(
      expect.objectContaining({ action: "approver.enroll", subject: "mallory" }),
    );
    expect(records).toContainEqual(expect.objectContaining({ action: "gate.approve", actor: "mallory" }));
    expect((await gated.run("doctor")).out).toMatch(/set-up: plain/);
  },
);

test(
  "[B-KEY-1] an agent with a shell enrols itself with a file of its own: nothing stops it, and only its decisions are in the audit",
  slow,
  async () => {
    const gated = await startElsewhere();
    const id = await waitingCall(gated);
    await gated.run("key", "new", "--unsealed");
    const {
      mcpx_unsealed: _,
      d: __,
      ...jwk
    } = JSON.parse(readFileSync(join(gated.dataDir, "keys", "default.jwk"), "utf8"));
    enrol(gated.dataDir, "mallory", { jwk });
    expect((await gated.run("approve", id, "--yes")).code).toBe(0);
    expect(gated.traces()).toHaveLength(1);
    const records = await actionsOf(gated);
    expect(records.filter(({ action }) => action === "approver.enroll")).toEqual([]);
    expect(records).toContainEqual(expect.objectContaining({ action: "gate.approve", actor: "mallory" }));
  },
);

test("[B-KEY-1] an agent with a shell ends panic: that is in the audit", slow, async () => {
  const gated = await startElsewhere();
  expect((await gated.run("panic")).code).toBe(0);
  expect((await gated.run("panic", "off")).code).toBe(0);
  const actions = (await actionsOf(gated)).map(({ action }) => action);
  expect(actions).toEqual(expect.arrayContaining(["gate.panic", "gate.calm"]));
});

test(
  "[B-KEY-1] an agent with a shell writes a rule that allows everything: nothing stops it",
  slow,
  async () => {
    const gated = gatedHome();
    const path = join(gated.dataDir, "mcpx.json");
    const config = JSON.parse(readFileSync(path, "utf8"));
    const rules = [{ tools: "**", action: "allow" }];
    writeFileSync(path, JSON.stringify({ ...config, gates: { ...config.gates, rules } }));
    await gated.start();
    const agent = await gated.agent("agent");
    expect(await agent.call("papers.shred", { paper: "taxes" })).toBe("shred is done");
    expect(gated.traces()).toHaveLength(1);
  },
);
