// Who is who and what was recorded, on a real PostgreSQL: the cases of every sibling, and what is PostgreSQL's own.
import { randomBytes } from "node:crypto";
import {
  createPostgresAuditPositions,
  createPostgresAuditStore,
  createPostgresIdentityStore,
  createSeal,
  hostOnPostgres,
  migratePostgres,
  openPostgresSession,
  readPostgresAddress,
} from "@mcpx/host";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { auditPositionCases } from "../../packages/host/src/audit/push/positions-cases.ts";
import { auditStoreCases } from "../../packages/host/src/audit/store-cases.ts";
import { identityStoreCases } from "../../packages/host/src/identity/identity-store-cases.ts";
import { startPostgres } from "../support/postgres-server.ts";

const server = await startPostgres();
afterAll(() => server[Symbol.asyncDispose]());

let schemas = 0;

/** A store of its own: sessions on it, and SQL by hand. */
async function openStore() {
  schemas += 1;
  const schema = `host${schemas}`;
  const address = readPostgresAddress(server.url(schema));
  await migratePostgres(address, hostOnPostgres);
  const openSession = async () => {
    const session = await openPostgresSession(address);
    onTestFinished(() => session.close());
    return session;
  };
  const sql = async (text: string) => server.sql(`SET search_path = ${schema}; ${text}`);
  return { openSession, schema, sql, session: await openSession() };
}

type OpenStore = Awaited<ReturnType<typeof openStore>>;

describe("the audit chain", () => {
  const open = async () => {
    const { session, openSession, sql } = await openStore();
    const again = async () => createPostgresAuditStore(await openSession());
    return { store: createPostgresAuditStore(session), open: again, sql };
  };

  auditStoreCases(open);

  const row = { reason: null, actor: null, subject: null, topic: null, detail: null };

  test("[B-AUDIT-1] a record that is committed without being safe is no record, and says nothing about the store", async () => {
    const { store } = await open();
    const append = () => store.append([{ at: 1, action: "call", count: 1, ...row }]);
    await append();
    await server.set({ synchronous_commit: "off" });
    await expect(append()).rejects.toMatchObject({ code: "storage_failed" });
    await server.set({ synchronous_commit: "on" });
    await append();
  });

  test("a chain whose head is gone takes nothing more", async () => {
    const { store, sql } = await open();
    await sql("DELETE FROM audit_head");
    await expect(store.append([{ at: 1, action: "call", count: 1, ...row }])).rejects.toThrow(/head/);
  });
});

describe("how far the audit was sent", () => {
  auditPositionCases(async () => {
    const { session, openSession } = await openStore();
    return {
      positions: createPostgresAuditPositions(session),
      open: async () => createPostgresAuditPositions(await openSession()),
    };
  });
});

describe("identity", () => {
  const key = randomBytes(32);
  const storeOf = async (openSession: OpenStore["openSession"], seal = createSeal(key)) =>
    createPostgresIdentityStore({ session: await openSession(), seal });

  identityStoreCases(async () => {
    const { openSession } = await openStore();
    return { store: await storeOf(openSession), open: () => storeOf(openSession) };
  });

  test("who has the engine has no secret, and another key opens none", async () => {
    const { openSession, schema } = await openStore();
    const store = await storeOf(openSession);
    await store.rootSecret(() => "the-root-secret");
    const made = { kid: "k1", privateJwk: "the-private-half", publicJwk: "{}", createdAt: 1 };
    await store.needKey(() => made);
    const dump = JSON.stringify([
      await server.sql(`SELECT * FROM ${schema}.host_settings`),
      await server.sql(`SELECT * FROM ${schema}.signing_keys`),
    ]);
    expect(dump).toContain("k1");
    expect(dump).not.toMatch(/the-root-secret|the-private-half/);
    const other = await storeOf(openSession, createSeal(randomBytes(32)));
    await expect(other.rootSecret(() => "mine")).rejects.toThrow(/sealed with another key/);
    // Nor can what is sealed be put elsewhere.
    await server.sql(`UPDATE ${schema}.signing_keys SET private_jwk =
      (SELECT value FROM ${schema}.host_settings WHERE name = 'secret')`);
    const token = { jti: "a", sub: undefined, claims: {}, iat: 1, exp: 2, forgetBefore: 0, owner: undefined };
    await expect(store.reserve(token, () => made)).rejects.toThrow(/sealed with another key, or changed/);
  });
});
