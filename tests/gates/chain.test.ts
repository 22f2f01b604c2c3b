// Who approves and what makes gates weaker, with a real gateway: nothing of it counts without an approver's signature, and
// a chain that was tampered with is not used. [B-KEY-2]
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { withChain } from "../../packages/cli/src/access/authority.ts";
import { mcpx, scratch } from "../cli/support/mcpx-process.ts";
import { newKey } from "./attacks/support/keys.ts";
import { type Gated, gatedHome, startGated } from "./support/gated.ts";
import { enrol } from "./support/give-grant.ts";
import { hereAt } from "./support/shell-scene.ts";

const slow = { timeout: 240_000 };

interface Card {
  id: string;
  tool: string;
  arguments: { what: string[] };
}

const cards = async (gated: Gated) =>
  ((await gated.pending()) as unknown as Card[]).filter(({ tool }) => tool.startsWith("mcpx."));

async function cardAbout(gated: Gated, sentence: string): Promise<Card> {
  const found = async () =>
    (await cards(gated)).find(({ arguments: { what } }) => what.join().includes(sentence));
  await expect.poll(found, { timeout: 15_000 }).toBeDefined();
  return (await found()) as Card;
}

function editConfig(gated: Gated, edit: (config: Record<string, object>) => object): void {
  const path = join(gated.dataDir, "mcpx.json");
  writeFileSync(path, JSON.stringify(edit(JSON.parse(readFileSync(path, "utf8")))));
}

async function addKey(gated: Gated): Promise<string> {
  const key = join(scratch(), "other.jwk");
  await gated.run("key", "new", "--out", key, "--unsealed");
  return key;
}

test(
  "[B-KEY-2] approvers come and go by an approver's signature: a file or a command alone changes nobody's word",
  slow,
  async () => {
    const gated = await startGated();
    const bob = await addKey(gated);
    const agent = await gated.agent("agent");
    await agent.call("papers.shred", { paper: "taxes" });
    const call = (await gated.pending()).find(({ tool }) => tool === "papers.shred")?.id ?? "";
    // Without an answer of an approver it waits, and decides nothing.
    expect(await gated.run("key", "enroll", "bob", "--key", bob, "--unsealed")).toMatchObject({
      code: 0,
      out: expect.stringContaining("bob waits for the signature of an approver"),
    });
    const refused = await gated.run("approve", call, "--yes", "--key", bob);
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("is not an enrolled approver") });
    expect(gated.traces()).toEqual([]);
    // His own key does not sign it either.
    const { id } = await cardAbout(gated, "bob may approve");
    expect((await gated.run("approve", id, "--yes", "--key", bob)).code).toBe(1);
    expect((await gated.run("doctor")).out).toMatch(/warning {2}approvers: not signed: bob may approve/);
    // The control: alice does.
    expect(await gated.run("approve", id, "--yes")).toMatchObject({
      code: 0,
      out: expect.stringContaining("signed as entry"),
    });
    expect((await gated.run("approve", call, "--yes", "--key", bob)).code).toBe(0);
    expect(gated.traces()).toHaveLength(1);
    // Removed by a file that is gone: he decides nothing, and stays an approver until somebody signs.
    rmSync(join(gated.dataDir, "approvers", "bob.json"));
    const removal = await cardAbout(gated, "bob approves nothing any more");
    expect((await gated.run("key", "list")).out).not.toContain("bob");
    expect((await gated.run("approve", removal.id, "--yes")).code).toBe(0);
    const { out } = await gated.run("key", "log");
    expect(out).toMatch(/signed: signed by alice\n +bob may approve, with the key/);
    expect(out).toMatch(/signed: signed by alice\n +bob approves nothing any more/);
    // The last one is not put out.
    expect((await gated.run("key", "remove", "alice", "--yes")).err).toContain("is the only approver");
  },
);

test(
  "[B-KEY-2] a reload applies everything but what makes gates weaker, which waits as a card, over a restart too",
  slow,
  async () => {
    const gated = await startGated();
    const config = JSON.parse(readFileSync(join(gated.dataDir, "mcpx.json"), "utf8"));
    const allowAll = [{ tools: "**", action: "allow" }];
    editConfig(gated, ({ mcpServers, gates }) => ({
      mcpServers: { ...mcpServers, more: config.mcpServers.papers },
      gates: { ...gates, rules: allowAll },
    }));
    const trust = await cardAbout(gated, "server more: what it says of its tools is believed");
    await cardAbout(gated, "1 rule decides");
    const agent = await gated.agent("agent");
    // The new server is there, and is not believed; the old one is as it was.
    expect(await agent.call("more.look")).toContain("more.look was not called");
    expect(await agent.call("papers.look")).toBe("look is done");
    expect(await gated.run("approve", trust.id, "--yes")).toMatchObject({ code: 0 });
    await expect.poll(() => agent.call("more.look"), { timeout: 15_000 }).toBe("look is done");
    expect(await agent.call("more.shred", { paper: "a" })).toContain("more.shred was not called");
    await agent.close();
    await gated.end("SIGTERM");
    await gated.start();
    const later = await gated.agent("agent");
    expect(await later.call("papers.shred", { paper: "b" })).toContain("papers.shred was not called");
    const rules = await cardAbout(gated, "1 rule decides");
    expect(await gated.run("approve", rules.id, "--yes")).toMatchObject({ code: 0 });
    expect(await later.call("papers.shred", { paper: "c" })).toBe("shred is done");
    // Another program under the name that a rule or a trust was given to is not it.
    editConfig(gated, ({ mcpServers, ...rest }) => ({
      ...rest,
      mcpServers: { ...mcpServers, more: { ...config.mcpServers.papers, cwd: "/" } },
    }));
    await cardAbout(gated, "server more: what it says of its tools is believed");
    // What is stricter needs nobody.
    editConfig(gated, (all) => ({ ...all, mcpServers: { papers: config.mcpServers.papers } }));
    await expect.poll(async () => (await cards(gated)).length, { timeout: 15_000 }).toBe(0);
    await later.close();
  },
);

test(
  "[B-KEY-2] config sign, panic and reset: signed at the terminal, also without a gateway",
  slow,
  async () => {
    const gated = gatedHome();
    await gated.run("key", "new", "--unsealed");
    // Before the first start: alice is the first, and what is configured is adopted.
    expect((await gated.run("key", "enroll", "alice", "--unsealed")).out).toContain("alice can approve now");
    expect((await gated.run("config", "sign")).out).toContain("nothing to sign");
    editConfig(gated, (config) => ({ ...config, gates: { hold: 0, unannotated: "allow" } }));
    expect(await gated.run("config", "sign")).toMatchObject({
      code: 1,
      out: expect.stringMatching(
        /^waits +the rules stay; tools that say nothing of themselves are let through/,
      ),
    });
    expect(await gated.run("config", "sign", "--yes")).toMatchObject({ code: 0, out: "signed: 1 change" });
    expect(await gated.run("panic")).toMatchObject({ code: 0 });
    expect(await gated.run("panic", "off")).toMatchObject({ code: 1 });
    // Who writes into the store ends no panic.
    const db = new DatabaseSync(join(gated.dataDir, "state.db"), { timeout: 10_000 });
    db.exec("UPDATE tree_facts SET value = 0 WHERE name = 'panic'");
    db.close();
    await gated.start();
    const agent = await gated.agent("agent");
    expect(await agent.call("papers.look")).toContain("papers.look was not called");
    expect(await gated.run("panic", "off")).toMatchObject({
      code: 1,
      out: "panic is still on, until an approver has signed its end",
    });
    expect(await agent.call("papers.look")).toContain("papers.look was not called");
    expect(await gated.run("panic", "off", "--yes")).toMatchObject({ code: 0 });
    expect(await agent.call("papers.look", {})).toBe("look is done");
    expect((await gated.run("key", "reset", "--no-key-is-left")).err).toContain("a gateway runs there");
    await agent.close();
    await gated.end("SIGTERM");
    expect((await gated.run("key", "reset")).code).toBe(1);
    expect(await gated.run("key", "reset", "--no-key-is-left")).toMatchObject({ code: 0 });
    expect(await gated.run("key", "enroll", "carol", "--unsealed")).toMatchObject({
      code: 0,
      out: expect.stringContaining("carol can approve now"),
    });
    expect((await gated.run("key", "log")).out).toContain("ALL APPROVERS WERE REMOVED");
    expect((await gated.run("doctor")).out).toMatch(
      /all approvers were removed without a signature on \d{4}/,
    );
  },
);

test(
  "[B-KEY-2] what a command appends counts, also where somebody's look at the chain takes it over first",
  slow,
  async () => {
    const gated = await startGated();
    const here = await hereAt(gated);
    const isPanic = async () => (await here("GET", "/admin/gates")).body.panic;
    expect(await isPanic()).toBe(false);
    await withChain({ dataDir: gated.dataDir, env: {} }, {}, async ({ chain }) => {
      await chain.settle(() => [{ key: "panic", value: true }]);
      // At once, and not when the gateway looks by itself.
      expect((await here("GET", "/admin/approvers/chain")).status).toBe(200);
    });
    expect(await isPanic()).toBe(true);
  },
);

test(
  "[B-KEY-2] a chain that was changed, cut, forked, repeated, or signed by somebody who was removed starts no gateway",
  slow,
  async () => {
    const gated = await startGated();
    const bob = await addKey(gated);
    const enrolling = await gated.run("key", "enroll", "bob", "--key", bob, "--unsealed", "--yes");
    expect(enrolling).toMatchObject({ code: 0 });
    // While it runs, the old one counts on: whoever empties the store enrols nobody.
    const live = new DatabaseSync(join(gated.dataDir, "state.db"), { timeout: 10_000 });
    const rows = live.prepare("SELECT n, entry FROM authority_chain ORDER BY n").all() as unknown as Row[];
    live.exec("DELETE FROM authority_chain");
    enrol(gated.dataDir, "mallory", newKey());
    const approvers = async () => (await gated.run("pending")).err;
    expect(await approvers()).not.toContain("mallory");
    for (const { n, entry } of rows) live.prepare("INSERT INTO authority_chain VALUES (?, ?)").run(n, entry);
    live.close();
    await gated.end("SIGTERM");
    rmSync(join(gated.dataDir, "approvers", "mallory.json"));
    const last = rows.at(-1) as Row;
    const removed = await removedSigner(gated, bob);
    const tampered: [string, (db: DatabaseSync) => void][] = [
      [
        "changed",
        (db) =>
          db.exec(`UPDATE authority_chain SET entry = replace(entry, 'bob', 'eve') WHERE n = ${last.n}`),
      ],
      ["cut", (db) => db.exec(`DELETE FROM authority_chain WHERE n >= ${last.n}`)],
      ["emptied", (db) => db.exec("DELETE FROM authority_chain")],
      ["forked", (db) => forked(db, last)],
      [
        "repeated",
        (db) => db.prepare("INSERT INTO authority_chain VALUES (?, ?)").run(removed.n, last.entry),
      ],
      [
        "signed by a removed approver",
        (db) => db.prepare("INSERT INTO authority_chain VALUES (?, ?)").run(removed.n, removed.entry),
      ],
    ];
    const copyOf = () => {
      const data = join(scratch(), "copy");
      cpSync(gated.dataDir, data, { recursive: true });
      return data;
    };
    for (const [what, tamper] of tampered) {
      const data = copyOf();
      const db = new DatabaseSync(join(data, "state.db"));
      tamper(db);
      db.close();
      const { code, err } = await mcpx(["key", "log", "--data", data]);
      expect({ what, code, err }).toMatchObject({
        code: 1,
        err: expect.stringMatching(/of the chain of approvers: /),
      });
      if (what === "cut") {
        const up = await mcpx(["up", "--data", data, "--port", "0"], { cwd: data });
        expect(up).toMatchObject({
          code: 1,
          err: expect.stringContaining("the audit has it, and the store does not"),
        });
      }
    }
    expect(await mcpx(["key", "log", "--data", copyOf()])).toMatchObject({ code: 0 });
  },
);

interface Row {
  n: number;
  entry: string;
}

/** An entry at the same place that says something else, with its own hash. */
function forked(db: DatabaseSync, { n, entry }: Row): void {
  const other = { ...JSON.parse(entry), kind: "tightened", changes: [{ key: "panic", value: true }] };
  delete other.terms;
  delete other.proofs;
  const text = JSON.stringify(Object.fromEntries(Object.entries(other).sort(([a], [b]) => (a < b ? -1 : 1))));
  db.prepare("UPDATE authority_chain SET entry = ? WHERE n = ?").run(text, n);
}

/** Bob is put out; what he signs on a copy where he still is does not follow from it. */
async function removedSigner(gated: Gated, bob: string): Promise<Row> {
  const copy = join(scratch(), "copy");
  cpSync(gated.dataDir, copy, { recursive: true });
  const other = join(scratch(), "x.jwk");
  await mcpx(["key", "new", "--out", other, "--unsealed"]);
  const args = ["key", "enroll", "eve", "--key", other, "--unsealed", "--by", bob, "--yes", "--data", copy];
  expect(await mcpx(args)).toMatchObject({ code: 0, out: expect.stringContaining("eve can approve now") });
  const db = new DatabaseSync(join(copy, "state.db"), { readOnly: true });
  const { entry } = db
    .prepare("SELECT entry FROM authority_chain ORDER BY n DESC LIMIT 1")
    .get() as unknown as Row;
  db.close();
  expect(await gated.run("key", "remove", "bob", "--yes")).toMatchObject({ code: 0 });
  const own = new DatabaseSync(join(gated.dataDir, "state.db"), { readOnly: true });
  const { n } = own.prepare("SELECT max(n) AS n FROM authority_chain").get() as unknown as Row;
  own.close();
  const parsed = { ...JSON.parse(entry), n: n + 1 };
  return { n: n + 1, entry: JSON.stringify(parsed) };
}

test("[B-KEY-2] a key says when the whole chain was replaced since it was used last", slow, async () => {
  const gated = await startGated();
  const agent = await gated.agent("agent");
  const approve = async (paper: string) => {
    await agent.call("papers.shred", { paper });
    const id = (await gated.pending()).find(({ tool }) => tool === "papers.shred")?.id ?? "";
    return await gated.run("approve", id, "--yes");
  };
  expect(await approve("1")).toMatchObject({ code: 0 });
  await agent.close();
  await gated.end("SIGTERM");
  // Everything but the key: the store, its audit and the approvers begin anew, with alice among them.
  for (const file of ["state.db", "state.db-wal", "state.db-shm"])
    rmSync(join(gated.dataDir, file), { force: true });
  await gated.start();
  expect((await gated.run("key", "log")).out).toContain("adopted");
  const again = await gated.agent("agent");
  await again.call("papers.shred", { paper: "2" });
  const id = (await gated.pending()).find(({ tool }) => tool === "papers.shred")?.id ?? "";
  expect(await gated.run("approve", id, "--yes")).toMatchObject({
    code: 1,
    err: expect.stringContaining("the chain of approvers there was replaced"),
  });
  expect(gated.traces()).toHaveLength(1);
  rmSync(join(gated.dataDir, "keys", "default.jwk.seen"));
  expect(await gated.run("approve", id, "--yes")).toMatchObject({ code: 0 });
  await again.close();
});
