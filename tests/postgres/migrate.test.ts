// `mcpx migrate`: all state of a gateway moves to PostgreSQL and back, and nothing of it is another afterwards.
import { generateKeyPairSync } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createFileApproverStore } from "@mcpx/aggregator";
import { postgresTopicLogStore } from "@mcpx/gateway";
import { migratePostgres, readPostgresAddress } from "@mcpx/host";
import { afterAll, expect, test } from "vitest";
import type { PasskeyJwk } from "../../packages/aggregator/src/gates/proofs/passkey.ts";
import { tableCopies } from "../../packages/cli/src/migrate/tables.ts";
import { mcpx, scratch, up } from "../cli/support/mcpx-process.ts";
import { startPostgres } from "../support/postgres-server.ts";

const slow = { timeout: 180_000 };
const server = await startPostgres();
afterAll(() => server[Symbol.asyncDispose]());

const byText = (one: object, other: object) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1);

/** What both have, as SQLite has it: every row of every table. */
function rowsOf(dataDir: string): Record<string, unknown[]> {
  const left = ["sqlite_sequence", "schema_versions", "id_blocks", "byte_marks", "meta"];
  const found: Record<string, unknown[]> = {};
  for (const file of ["state.db", "topics.db"]) {
    const db = new DatabaseSync(join(dataDir, file), { readOnly: true });
    const names = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
    for (const { name } of names) {
      if (!left.includes(String(name)) && !String(name).startsWith("sqlite_"))
        found[String(name)] = db.prepare(`SELECT * FROM ${name}`).all().sort(byText);
    }
    db.close();
  }
  const approvers = join(dataDir, "approvers");
  found.approvers = readdirSync(approvers).map((file) => readFileSync(join(approvers, file), "utf8"));
  return found;
}

const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
/** With a count, so that it is known whether that moves. */
const anna = {
  name: "anna",
  passkey: {
    ...{ credentialId: "Y3JlZGVudGlhbA", counter: 7, rpId: "localhost", origin: "http://localhost:1" },
    ...{ transports: ["usb"], publicKey: publicKey.export({ format: "jwk" }) as PasskeyJwk },
  },
  mayLogIn: true,
} as const;

/** A gateway forgets what is over. */
const later = Date.now() + 86_400_000;

/** A room with words, decisions, keys and tokens, and rows of every other kind as gateways leave them. */
async function furnished() {
  const dataDir = scratch();
  const run = (...args: string[]) => mcpx([...args, "--data", dataDir], { cwd: dataDir });
  await run("key", "new", "--unsealed");
  await run("key", "enroll", "ada", "--unsealed");
  const gateway = await up(dataDir);
  const { out: token } = await run(
    "token",
    "--id",
    "ada",
    "--topic",
    "demo",
    "--level",
    "full",
    "--ttl",
    "30d",
  );
  for (const text of ["one", 'two \u{1f600} "quoted" \\ back', "three"]) await run("say", "demo", text);
  await run("panic");
  const { tokens } = JSON.parse((await run("token", "list", "--json", "--all")).out);
  await run("token", "revoke", tokens.find(({ sub }: { sub: string }) => sub.startsWith("cli-")).jti);
  gateway.kill("SIGTERM");
  await gateway.ended;
  await createFileApproverStore(join(dataDir, "approvers")).add(anna);
  const db = new DatabaseSync(join(dataDir, "state.db"));
  db.exec(`
    INSERT INTO level_decisions (id, topic, level, by, at) VALUES ('bob', '*', 'restricted', 'cli:ada', 5);
    INSERT INTO revoked_capabilities VALUES ('demo', 'ada', 'jti' || char(7), ${later});
    INSERT INTO revoked_hashes (until, hashes) VALUES (${later}, x'00ff10');
    INSERT INTO topic_makers VALUES ('other', 'ada');
    INSERT INTO tool_pins (server, tool, hash, text, pinned_at, chars, changed_hash, changed_text, changed_at, canonical)
      VALUES ('tiny', 'read', 'h', '{"a":1}', 4, 13, 'g', '{"a":2', 6, 'tiny.read');
    INSERT INTO segment_claims (segment, subserver_id, identity, is_proven, until_ms, registrant)
      VALUES ('edge', 'id', 'who', 1, ${later}, 'ada');
    INSERT INTO subserver_epochs VALUES (7, 'id', 3);
    INSERT INTO budget_uses VALUES ('id', 2, 1.5, '[]', ${later});
    INSERT INTO gates (id, status, principal, tool, digest, created_at, expires_at, settled_at, is_delivered, chars, facts, arguments)
      VALUES ('g1', 'done', 'ada', 'tiny.read', 'd', ${later}, ${later}, ${later}, 1, 2, '{}', '{}');
    INSERT INTO gate_proofs VALUES ('seen');
    INSERT INTO bridge_links VALUES ('chat', 'U1', 'l1', 'ada', NULL, 3);
    INSERT INTO bridge_messages (bridge, channel, topic, message, ref, envelope) VALUES ('chat', 'c', 'demo', 'm', 'r', 'e');
    INSERT INTO push_devices VALUES ('https://push.example/1', 'p', 'a', 'phone', 8);
    INSERT INTO oauth_artifacts VALUES ('Client', 'k', '{"s":"hush"}', NULL, NULL, ${later}, NULL);
    INSERT INTO tree_facts VALUES ('epoch_floor', 4);
  `);
  db.close();
  return { dataDir, run, token };
}

test(
  "[B-SCALE-1] all state moves to PostgreSQL and back, goes on where it was broken off, and is the same",
  slow,
  async () => {
    const { dataDir, run, token } = await furnished();
    const before = rowsOf(dataDir);
    expect(Object.values(before).filter((rows) => rows.length > 0).length).toBeGreaterThan(20);
    const address = server.url("moved");
    writeFileSync(join(dataDir, "mcpx.json"), JSON.stringify({ store: address }));

    // Broken off at the third envelope: what was copied stays, the files are still the state, and it goes on from there.
    await migratePostgres(readPostgresAddress(address), postgresTopicLogStore);
    await server.sql(`
    CREATE FUNCTION moved.fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'broken off'; END $$;
    CREATE TRIGGER fail BEFORE INSERT ON moved.envelopes FOR EACH ROW WHEN (NEW.seq = 3) EXECUTE FUNCTION moved.fail()`);
    const broken = await run("migrate", "--from", "sqlite", "--to", "postgres");
    expect(broken).toMatchObject({
      code: 1,
      err: expect.stringMatching(/broken off .*type the same again: it goes on/),
    });
    expect(existsSync(join(dataDir, "store.json"))).toBe(false);
    const [copied] = await server.sql("SELECT count(*)::int AS rows, min(xmin::text) AS by FROM moved.audit");
    expect(copied?.rows).toBe(before.audit?.length);
    await server.sql("DROP TRIGGER fail ON moved.envelopes");

    const moved = await run("migrate", "--from", "sqlite", "--to", "postgres", "--json");
    expect(moved).toMatchObject({ code: 0 });
    expect(JSON.parse(moved.out)).toMatchObject({
      tables: { envelopes: 3, approvers: 2 },
      audit: { records: expect.any(Number) },
      chain: { entries: before.authority_chain?.length },
    });
    expect(await server.sql("SELECT name, counter FROM moved.approvers ORDER BY number")).toEqual([
      { name: "ada", counter: null },
      { name: "anna", counter: "7" },
    ]);
    expect(existsSync(join(dataDir, "approvers"))).toBe(false);
    expect(
      await server.sql("SELECT count(*)::int AS rows, min(xmin::text) AS by FROM moved.audit"),
      "once",
    ).toEqual([copied]);
    expect(existsSync(join(dataDir, "state.db"))).toBe(false);
    const stranger = scratch();
    await mcpx(["token", "--id", "eve", "--topic", "demo", "--data", stranger]);
    const other = await mcpx(["migrate", "--from", "sqlite", "--to", address, "--data", stranger]);
    expect(other.err).toMatch(/was being filled from other files, or from these before they changed/);
    const [secret] = await server.sql("SELECT value FROM moved.host_settings WHERE name = 'secret'");
    expect(secret?.value, "sealed").toMatch(/^s1\./);

    // Back again, every row is what it was.
    expect(await run("migrate", "--from", "postgres", "--to", "sqlite")).toMatchObject({ code: 0 });
    expect(rowsOf(dataDir)).toEqual(before);

    // A chain of approvers that was changed by hand is not moved as if it were whole.
    const third = server.url("third");
    const db = new DatabaseSync(join(dataDir, "state.db"));
    const kept = db.prepare("SELECT entry FROM authority_chain WHERE n = 0").get();
    db.exec("UPDATE authority_chain SET entry = replace(entry, 'ada', 'eve') WHERE n = 0");
    const changed = await run("migrate", "--from", "sqlite", "--to", third);
    expect(changed).toMatchObject({
      code: 1,
      err: expect.stringMatching(/chain of approvers.*mcpx key log/s),
    });
    expect(existsSync(join(dataDir, "state.db"))).toBe(true);
    db.prepare("UPDATE authority_chain SET entry = ? WHERE n = 0").run(kept?.entry ?? null);
    db.close();

    // A gateway on it takes the tokens of before, and has the words of the room.
    const second = server.url("second");
    writeFileSync(join(dataDir, "mcpx.json"), JSON.stringify({ store: second }));
    expect(await run("migrate", "--from", "sqlite", "--to", "postgres")).toMatchObject({ code: 0 });
    const gateway = await up(dataDir, [], { cwd: dataDir });
    const asked = await fetch(`${gateway.url}/v0/topics/demo/history`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(asked.status).toBe(200);
    expect(await asked.text()).toContain("three");
    await run("say", "demo", "four");
    expect((await run("migrate", "--from", "postgres", "--to", "sqlite")).err).toMatch(/a gateway runs on/);
    gateway.kill("SIGTERM");
    await gateway.ended;
    expect(await run("migrate", "--from", "postgres", "--to", "sqlite")).toMatchObject({ code: 0 });
    expect(await run("audit", "verify")).toMatchObject({ code: 0 });
    writeFileSync(join(dataDir, "mcpx.json"), "{}");
    const again = await up(dataDir, [], { cwd: dataDir });
    expect((await run("tail", "demo", "--no-follow")).out).toContain("four");
    again.kill("SIGTERM");
    await again.ended;
  },
);

test("[B-SCALE-1] every table and column of a store is copied, or ends with the processes it is of", async () => {
  const { dataDir, run } = { dataDir: scratch(), run: mcpx };
  await run(["token", "--id", "ada", "--topic", "demo", "--data", dataDir]);
  const words = ["migrate", "--from", "sqlite", "--to", server.url("columns"), "--data", dataDir];
  expect(await run(words)).toMatchObject({ code: 0 });
  const rows = await server.sql(
    "SELECT table_name || ' ' || column_name AS name FROM information_schema.columns WHERE table_schema = 'columns'",
  );
  const copied = tableCopies.flatMap(({ name, columns }) => columns.map(({ store }) => `${name} ${store}`));
  // Copied whole, made anew, or of gateways, turns and migrations that are over.
  const apart =
    /^(approvers|cluster_\w+|host_numbers|migration_progress|oauth_credentials|oauth_turns|push_devices|schema_versions) |^oauth_consents is_ending$|^topics owner/;
  const left = rows
    .map(({ name }) => String(name))
    .filter((name) => !apart.test(name) && !copied.includes(name));
  expect(left).toEqual([]);
  expect(rows.length, "control").toBeGreaterThan(150);
});
