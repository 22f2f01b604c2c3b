// What is refused when the store is opened, in words that say what to do, and what is used after all.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPostgresTopicLog } from "@mcpx/gateway";
import { makeAuthority, makeCertificate, migratePostgres, readPostgresAddress } from "@mcpx/host";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { newEntry } from "../../packages/gateway/src/topic-log/cases.ts";
import { newKey } from "../gates/attacks/support/keys.ts";
import { enter } from "../support/enter.ts";
import { startPostgres } from "../support/postgres-server.ts";
import { startTestServer } from "../support/test-server.ts";
import { startDoorProxy } from "./support/door-proxy.ts";

const span = { from: new Date(Date.now() - 3_600_000), until: new Date(Date.now() + 3_600_000) };
const authority = makeAuthority({ name: "of these tests", ...span });
const certificate = makeCertificate({ use: "server", names: ["127.0.0.1"], ...span }, authority);

const server = await startPostgres(
  { ssl: "on" },
  { "server.crt": certificate.cert, "server.key": certificate.key },
);
const folder = mkdtempSync(join(tmpdir(), "mcpx-postgres-tests-"));
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

async function open(url: string, warnings: string[] = []) {
  const log = await createPostgresTopicLog({ url, onWarning: (warning) => warnings.push(warning) });
  onTestFinished(() => log.close());
  return log;
}

/** The message it is refused with; never the password. */
async function refusal(url: string): Promise<string> {
  const error = await open(url).then(
    () => expect.fail("it was opened"),
    (reason: Error) => reason,
  );
  expect(error.message).not.toMatch(/of tests/);
  return error.message;
}

/** A user of its own, with what the statements give it. */
async function newUser(name: string, ...statements: string[]): Promise<string> {
  await server.sql(`CREATE USER ${name}`);
  for (const statement of statements) await server.sql(statement);
  return server.url(name).replace("mcpx@", `${name}@`);
}

test("a user without rights is told which schema to ask for, and with it makes the tables alone", async () => {
  const url = await newUser("ada");
  expect(await refusal(url)).toMatch(/ada lacks a right.*CREATE SCHEMA ada AUTHORIZATION ada/);
  await server.sql("CREATE SCHEMA ada AUTHORIZATION ada");
  expect(await (await open(url)).append(newEntry())).toMatchObject({ seq: 1 });
});

/** Of docs/POSTGRES.md, for a role of this name in a schema of this name. */
function grantsInDocs(name: string): string[] {
  const page = readFileSync(join(import.meta.dirname, "..", "..", "docs", "POSTGRES.md"), "utf8");
  const grants = page.match(/^GRANT .* TO gateway;$/gm) ?? [];
  return grants.map((grant) =>
    grant
      .replace("DATABASE mcpx", "DATABASE postgres")
      .replace("SCHEMA mcpx", `SCHEMA ${name}`)
      .replace("gateway", name),
  );
}

/** A gateway until it has taken one word. */
async function useGateway(url: string): Promise<void> {
  const gateway = await startTestServer({ store: { url, key } });
  try {
    await gateway.approvers.add({ name: "alice", jwk: newKey().jwk });
    await gateway.approvers.remove("alice");
    const token = await gateway.token({ sub: "alice", topics: ["demo"], level: "full" });
    expect((await gateway.call("POST", "/v0/tickets", token, { topic: "demo" })).status).toBe(201);
    await (await enter(gateway, "bob", { topic: "demo" })).leave();
    const demoted = await gateway.callHere("POST", "/admin/participants/bob/demote", { topic: "demo" });
    expect(demoted.status).toBe(200);
    await gateway.identity.revocations.revoke("a token");
  } finally {
    await gateway.stop();
  }
}

const key = Buffer.alloc(32, 7);

test("[B-SCALE-1] a gateway runs with the grants of docs/POSTGRES.md and no other; without one of them it says which", async () => {
  // The role that owns the schema makes the tables.
  await useGateway(server.url("bob"));
  const grants = grantsInDocs("bob");
  expect(grants).toHaveLength(4);
  const url = await newUser("bob", "REVOKE ALL ON DATABASE postgres FROM PUBLIC", ...grants);
  onTestFinished(async () => void (await server.sql("GRANT ALL ON DATABASE postgres TO PUBLIC")));
  await useGateway(url);
  const lesser: [revoked: string, told: RegExp][] = [
    ["CONNECT ON DATABASE postgres", /GRANT CONNECT ON DATABASE postgres TO bob/],
    ["USAGE ON SCHEMA bob", /\(USAGE on schema bob\); give it: GRANT USAGE ON SCHEMA bob TO bob$/],
    ...["SELECT", "INSERT", "UPDATE", "DELETE"].map((right): [string, RegExp] => [
      `${right} ON bob.gates`,
      new RegExp(
        `\\(${right} on table gates\\); give it: GRANT ${right} ON ALL TABLES IN SCHEMA bob TO bob$`,
      ),
    ]),
    [
      "USAGE ON SEQUENCE bob.level_decisions_numbers",
      /level_decisions_numbers\); give it: GRANT USAGE ON ALL SEQUENCES IN SCHEMA bob TO bob$/,
    ],
  ];
  for (const [revoked, told] of lesser) {
    await server.sql(`REVOKE ${revoked} FROM bob`);
    await expect(useGateway(url), revoked).rejects.toThrow(told);
    await server.sql(`GRANT ${revoked} TO bob`);
  }
  await server.sql("REVOKE SELECT, DELETE ON ALL TABLES IN SCHEMA bob FROM bob");
  await expect(useGateway(url)).rejects.toThrow(
    / and \d+ more\); give it: GRANT SELECT, DELETE ON ALL TABLES/,
  );
});

test("tables from the future are refused, naming both versions", async () => {
  await open(server.url("future"));
  await server.sql("UPDATE future.schema_versions SET version = 7");
  expect(await refusal(server.url("future"))).toMatch(
    /topics tables .* version 7 .* only up to 2; use the newer/,
  );
});

test("many that start at once migrate once, and a migration that fails leaves nothing", async () => {
  const url = server.url("together");
  const logs = await Promise.all([open(url), open(url), open(url), open(url)]);
  expect(new Set(logs.map(({ epoch }) => epoch)).size).toBe(1);
  const address = readPostgresAddress(server.url("half"));
  const up = "CREATE TABLE one (n integer); CREATE TABLE one (n integer)";
  await expect(
    migratePostgres(address, { component: "test", migrations: [{ version: 1, up }] }),
  ).rejects.toThrow(/already exists/);
  expect(await server.sql("SELECT to_regnamespace('half') IS NULL AS gone")).toEqual([{ gone: true }]);
});

test("durability that is off is refused, one that waits for no standby is warned of", async () => {
  const url = await newUser("dora", "CREATE SCHEMA dora AUTHORIZATION dora");
  await server.sql("ALTER USER dora SET synchronous_commit = off");
  expect(await refusal(url)).toMatch(/synchronous_commit is off: a crash would lose/);
  await server.sql("ALTER USER dora SET synchronous_commit = local");
  const warnings: string[] = [];
  expect(await (await open(url, warnings)).append(newEntry())).toMatchObject({ seq: 1 });
  expect(warnings).toEqual([expect.stringContaining("synchronous_commit is local")]);
  await server.set({ fsync: "off" });
  onTestFinished(() => server.set({ fsync: "on" }));
  expect(await refusal(server.url())).toMatch(/fsync is off/);
});

test("a wrong password, a missing one, a missing database and a server that is not there are each named", async () => {
  const tcp = server.tcpUrl();
  expect(await refusal(tcp.replace(/:not[^@]*@/, ":wrong@"))).toMatch(/does not accept the password of mcpx/);
  expect(await refusal(tcp.replace(/:not[^@]*@/, "@"))).toMatch(
    /asks for a password and the address has none/,
  );
  expect(await refusal(tcp.replace("/postgres?", "/nowhere?"))).toMatch(
    /no database nowhere; .*CREATE DATABASE/,
  );
  expect(await refusal(tcp.replace(/:\d+\//, ":1/"))).toBe(
    "PostgreSQL cannot be used: 127.0.0.1:1: nothing listens there",
  );
  expect(await refusal("postgres://mcpx@/postgres?host=/nowhere")).toMatch(/there is no socket at this path/);
});

test("over TLS the server has to be the one its authority vouches for", async () => {
  const file = join(folder, "authority.pem");
  writeFileSync(file, authority.cert);
  const url = `${server.tcpUrl()}&sslmode=verify-full`;
  const log = await open(`${url}&sslrootcert=${file}`);
  expect(await log.append(newEntry())).toMatchObject({ seq: 1 });
  const used = await server.sql(
    "SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE client_port > 0",
  );
  expect(used).toEqual([{ ssl: true }]);
  expect(await refusal(url)).toMatch(/certificate/);
  const stranger = makeAuthority({ name: "another", ...span });
  writeFileSync(file, stranger.cert);
  expect(await refusal(`${url}&sslrootcert=${file}`)).toMatch(/certificate/);
});

test("a read-only replica is refused, and beside its primary it is passed over", async () => {
  await using replica = await startPostgres({}, { "standby.signal": "" });
  expect(await refusal(replica.tcpUrl())).toMatch(/read-only replica; name the primary/);
  const both = server.tcpUrl().replace("@127.0.0.1:", `@127.0.0.1:${replica.port},127.0.0.1:`);
  expect(await (await open(both)).append(newEntry())).toMatchObject({ seq: 1 });
});

test("of two addresses the second is used when the first goes away", async () => {
  await using first = await startDoorProxy(server.port);
  await using second = await startDoorProxy(server.port);
  const told: string[] = [];
  const url = server
    .tcpUrl({ port: first.port })
    .replace("/postgres?", `,127.0.0.1:${second.port}/postgres?`);
  const log = await createPostgresTopicLog({
    url,
    onBack: () => told.push("back"),
    tuning: { retryMinMs: 10, retryMaxMs: 50 },
  });
  await log.append(newEntry());
  first.shut();
  await expect.poll(() => told).toEqual(["back"]);
  expect(await log.append(newEntry({ id: "e2" }))).toMatchObject({ seq: 2 });
  second.shut();
  await expect(log.append(newEntry({ id: "e3" })), "control").rejects.toMatchObject({ name: "McpxError" });
  await log.close();
});
