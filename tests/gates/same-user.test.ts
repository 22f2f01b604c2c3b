// What an agent with a shell can do as the same user, in a set-up whose approvers' keys it cannot use: what is stopped,
// what is seen, and what is neither. docs/THREATS.md says the same.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { newKey } from "./attacks/support/keys.ts";
import { type Gated, gatedHome } from "./support/gated.ts";
import { enrol } from "./support/give-grant.ts";

const slow = { timeout: 240_000 };

/** Alice approves with a key that is not on this machine. */
async function startElsewhere(): Promise<Gated> {
  const gated = gatedHome();
  enrol(gated.dataDir, "alice", newKey());
  await gated.start();
  return gated;
}

async function waitingCall(gated: Gated): Promise<string> {
  const agent = await gated.agent("agent");
  await agent.call("papers.shred", { paper: "taxes" });
  const gate = (await gated.pending()).find(({ tool }) => tool === "papers.shred");
  return gate?.id ?? "";
}

const actionsOf = async (gated: Gated): Promise<{ action: string; subject?: string; actor?: string }[]> =>
  JSON.parse((await gated.run("audit", "--json")).out).records;

const cardsOf = async (gated: Gated): Promise<string> =>
  JSON.stringify((await gated.pending()).filter(({ tool }) => tool.startsWith("mcpx.")));

test(
  "[B-KEY-2] an agent with a shell enrols itself, by the command or by a file: it waits for an approver, and is none before that",
  slow,
  async () => {
    const gated = await startElsewhere();
    const id = await waitingCall(gated);
    await gated.run("key", "new", "--unsealed");
    expect((await gated.run("key", "enroll", "mallory", "--unsealed", "--yes")).out).toContain(
      "mallory waits",
    );
    expect((await gated.run("approve", id, "--yes")).err).toContain("is not an enrolled approver");
    // Nor after the gateway was started again, with its file in place of the real one's.
    rmSync(join(gated.dataDir, "approvers", "alice.json"));
    await gated.end("SIGTERM");
    await gated.start();
    expect((await gated.run("approve", id, "--yes")).err).toContain("is not an enrolled approver");
    expect(gated.traces()).toEqual([]);
    await expect.poll(() => cardsOf(gated), { timeout: 15_000 }).toContain("mallory may approve");
    expect(await cardsOf(gated)).toContain("alice approves nothing any more");
    expect(await actionsOf(gated)).toContainEqual(
      expect.objectContaining({ action: "approver.enroll", subject: "mallory" }),
    );
  },
);

test(
  "[B-KEY-2] an agent with a shell ends panic, or writes a rule that allows everything: both wait for an approver",
  slow,
  async () => {
    const gated = await startElsewhere();
    expect((await gated.run("panic")).code).toBe(0);
    expect((await gated.run("panic", "off")).code).toBe(1);
    const path = join(gated.dataDir, "mcpx.json");
    const config = JSON.parse(readFileSync(path, "utf8"));
    const rules = [{ tools: "**", action: "allow" }];
    writeFileSync(path, JSON.stringify({ ...config, gates: { ...config.gates, rules } }));
    await gated.end("SIGTERM");
    await gated.start();
    const agent = await gated.agent("agent");
    expect(await agent.call("papers.shred", { paper: "taxes" })).toContain("papers.shred was not called");
    expect(gated.traces()).toEqual([]);
    await expect.poll(() => cardsOf(gated), { timeout: 15_000 }).toContain("1 rule decides");
    await agent.close();
  },
);

test(
  "[B-KEY-2] an agent with a shell throws the whole store away and begins anew with itself: it approves, and the new chain says that it is new",
  slow,
  async () => {
    const gated = await startElsewhere();
    await gated.end("SIGTERM");
    for (const file of ["state.db", "state.db-wal", "state.db-shm", "approvers/alice.json"]) {
      rmSync(join(gated.dataDir, file), { force: true });
    }
    await gated.run("key", "new", "--unsealed");
    expect((await gated.run("key", "enroll", "alice", "--unsealed")).out).toContain("alice can approve now");
    await gated.start();
    const id = await waitingCall(gated);
    expect((await gated.run("approve", id, "--yes")).code).toBe(0);
    expect(gated.traces()).toHaveLength(1);
    const { out } = await gated.run("key", "log");
    expect(out).toContain("adopted: existed when the chain began; nobody signed it");
    // The audit begins anew as well: whoever has an export of the old one sees it.
    const db = new DatabaseSync(join(gated.dataDir, "state.db"), { readOnly: true });
    expect(Number(db.prepare("SELECT min(seq) AS first FROM audit").get()?.first)).toBe(1);
    db.close();
  },
);
