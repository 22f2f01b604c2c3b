// State of the tree on a real PostgreSQL: the cases of every sibling, and what only a store that outlives a process has.
import { randomBytes } from "node:crypto";
import { treeOnPostgres } from "@mcpx/aggregator";
import { type AskPostgres, bridgesOnPostgres } from "@mcpx/bridges";
import {
  askPostgres,
  type Clock,
  createSeal,
  migratePostgres,
  openPostgresSession,
  PostgresFault,
  type PostgresSession,
  readPostgresAddress,
} from "@mcpx/host";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { budgetStoreCases, useFor } from "../../packages/aggregator/src/budgets/store-cases.ts";
import { createPostgresBudgetStore } from "../../packages/aggregator/src/budgets/store-postgres.ts";
import { pinStoreCases } from "../../packages/aggregator/src/catalogue/pin-store-cases.ts";
import { createPostgresPinStore } from "../../packages/aggregator/src/catalogue/pin-store-postgres.ts";
import { chainStoreCases } from "../../packages/aggregator/src/gates/chain/chain-store-cases.ts";
import { createPostgresChainStore } from "../../packages/aggregator/src/gates/chain/chain-store-postgres.ts";
import { approverStoreCases } from "../../packages/aggregator/src/gates/store/approver-store-cases.ts";
import { createPostgresApproverStore } from "../../packages/aggregator/src/gates/store/approver-store-postgres.ts";
import { gateStoreCases } from "../../packages/aggregator/src/gates/store/gate-store-cases.ts";
import { createPostgresGateStore } from "../../packages/aggregator/src/gates/store/gate-store-postgres.ts";
import type { GateStoreOptions } from "../../packages/aggregator/src/gates/store/gate-verbs.ts";
import { approvalOf, lifeMs, wishOf } from "../../packages/aggregator/src/gates/testing/gate-wishes.ts";
import {
  credentialStoreCases,
  someCredential,
} from "../../packages/aggregator/src/oauth/credential-store-cases.ts";
import { createPostgresCredentialStore } from "../../packages/aggregator/src/oauth/credential-store-postgres.ts";
import {
  claimOf,
  createSettableClock,
  ownerOf,
  registrationStoreCases,
} from "../../packages/aggregator/src/registration/registration-store-cases.ts";
import { createPostgresRegistrationStore } from "../../packages/aggregator/src/registration/registration-store-postgres.ts";
import { treeFactsCases } from "../../packages/aggregator/src/tree/facts-cases.ts";
import { createPostgresTreeFacts } from "../../packages/aggregator/src/tree/facts-postgres.ts";
import { pushStoreCases } from "../../packages/bridges/src/push/push-store-cases.ts";
import { createPostgresPushStore } from "../../packages/bridges/src/push/push-store-postgres.ts";
import { bridgeStoreCases } from "../../packages/bridges/src/store/store-cases.ts";
import { createPostgresStore } from "../../packages/bridges/src/store/store-postgres.ts";
import {
  authorizationStoreCases,
  caseBounds,
} from "../../packages/cli/src/authorization/store/store-cases.ts";
import {
  authorizationOnPostgres,
  createPostgresAuthorizationStore,
} from "../../packages/cli/src/authorization/store/store-postgres.ts";
import { startPostgres } from "../support/postgres-server.ts";

const server = await startPostgres();
afterAll(() => server[Symbol.asyncDispose]());

async function openSession(url = server.url()) {
  const address = readPostgresAddress(url);
  await migratePostgres(address, treeOnPostgres, bridgesOnPostgres, authorizationOnPostgres);
  const session = await openPostgresSession(address);
  onTestFinished(() => session.close());
  return session;
}

describe("registrations", () => {
  const open = async (options: { clock: Clock; epochsMax?: number }, url?: string) =>
    createPostgresRegistrationStore({ session: await openSession(url), ...options });

  registrationStoreCases(open);

  test("[AX-4.2-2] [AX-4.2-5] [AX-13.4-1] claims, proofs and epochs outlive the process, leases do not", async () => {
    const clock = createSettableClock();
    const url = server.url();
    const before = await open({ clock }, url);
    const other = claimOf({ identity: "token:mallory", isProven: false });
    await before.claim(claimOf(), 1_000);
    await before.useProof("p", clock.now() + 600_000);
    for (const session of ["1", "2", "3"]) await before.take("s1", ownerOf("a", session), 0);
    const after = await open({ clock }, url);
    expect(await after.claim(other, 1_000)).toEqual(claimOf());
    expect(await after.useProof("p", clock.now() + 600_000)).toBe(false);
    expect(await after.renew("s1", "3", 1_000)).toBe(false);
    expect(await after.take("s1", ownerOf("b"), 1_000)).toEqual({ isOurs: true, epoch: 4 });
    clock.advance(1_000);
    expect(await after.claim(other, 1_000)).toEqual(other);
  });

  test("[AX-4.2-1] [AX-4.2-5] of many processes one gets a segment, a proof and each epoch", async () => {
    const clock = createSettableClock();
    const url = server.url();
    const stores = await Promise.all(Array.from({ length: 4 }, () => open({ clock }, url)));
    for (let round = 0; round < 10; round += 1) {
      const claims = await Promise.all(
        stores.map((store, i) =>
          store.claim(claimOf({ segment: `g${round}`, subserverId: `s${i}`, identity: String(i) }), 1_000),
        ),
      );
      expect(new Set(claims.map(({ identity }) => identity)).size).toBe(1);
      const used = await Promise.all(stores.map((store) => store.useProof(`p${round}`, clock.now())));
      expect(used.filter(Boolean)).toHaveLength(1);
      const leases = await Promise.all(
        stores.map((store, i) => store.take(`t${round}`, ownerOf(`a${i}`), 1_000)),
      );
      expect(leases.map((lease) => lease.isOurs && lease.epoch).toSorted()).toEqual([1, 2, 3, 4]);
    }
  });

  test("what counts no more is thrown away", async () => {
    const clock = createSettableClock();
    const store = await open({ clock, epochsMax: 20 }, server.url("thrown"));
    for (let i = 0; i < 30; i += 1) {
      await store.claim(claimOf({ segment: `s${i}` }), 1_000);
      await store.useProof(`p${i}`, clock.now() + 1_000);
      await store.take(`s${i}`, ownerOf("a"), 1_000);
    }
    const counts = async () => {
      const tables = ["segment_claims", "used_proofs", "subserver_epochs"];
      const rows = tables.map((table) => server.sql(`SELECT count(*)::int AS n FROM thrown.${table}`));
      return (await Promise.all(rows)).map(([row]) => row?.n);
    };
    expect(await counts()).toEqual([30, 30, 20]);
    clock.advance(30 * 86_400_000);
    await store.claim(claimOf(), 1_000);
    await store.useProof("p", clock.now() + 1_000);
    expect(await counts()).toEqual([1, 1, 20]);
  });

  test("[AX-4.2-1] a claim that cannot be written is not given, and says nothing about the store", async () => {
    const clock = createSettableClock();
    const store = await open({ clock }, server.url("gone"));
    await server.sql("DROP TABLE gone.segment_claims, gone.subserver_epochs");
    await expect(store.claim(claimOf(), 1_000)).rejects.toMatchObject({
      code: "storage_failed",
      message: expect.not.stringMatching(/segment_claims|gone/),
    });
    await expect(store.take("s1", ownerOf("a"), 1_000)).rejects.toMatchObject({ code: "storage_failed" });
    expect(await store.renew("s1", "a-1", 1_000)).toBe(false);
  });
});

describe("used budgets", () => {
  budgetStoreCases(async () => createPostgresBudgetStore(await openSession()));

  test("outlive the session, and a write that fails at the server leaves nothing of itself", async () => {
    const url = server.url("budgets");
    await createPostgresBudgetStore(await openSession(url)).write([useFor("a")], []);
    const store = createPostgresBudgetStore(await openSession(url));
    expect(await store.all()).toEqual([useFor("a")]);
    await server.sql("ALTER TABLE budgets.budget_uses ADD CHECK (mutable_calls < 100)");
    const uses = [useFor("b"), useFor("c", { mutableCalls: 100 })];
    await expect(store.write(uses, ["a"])).rejects.toMatchObject({ code: "storage_failed" });
    expect(await store.all()).toEqual([useFor("a")]);
  });
});

/** One schema for all cases of a store: making its tables takes longer than most of them. */
function placesIn(schema: string, ...tables: readonly string[]) {
  const url = server.url(schema);
  const empty = tables.map((table) => `DELETE FROM ${schema}.${table}`).join("; ");
  return () => {
    const cleared = openSession(url).then(() => server.sql(empty));
    return async () => {
      await cleared;
      return openSession(url);
    };
  };
}

describe("facts of a tree", () => {
  const place = placesIn("facts", "tree_facts");
  treeFactsCases(() => {
    const open = place();
    return async () => createPostgresTreeFacts(await open());
  });
});

describe("the chain of approvers", () => {
  const place = placesIn("chain", "authority_chain");
  chainStoreCases(() => {
    const open = place();
    return async () => createPostgresChainStore(await open());
  });
});

describe("pins", () => {
  const place = placesIn("pins", "tool_pins");
  pinStoreCases(async () => createPostgresPinStore(await place()()));
});

describe("gates", () => {
  const sessions = placesIn("gates", "gates", "gate_proofs");
  const place = () => {
    const open = sessions();
    return async (options: GateStoreOptions) =>
      createPostgresGateStore({ session: await open(), ...options });
  };
  gateStoreCases(place);

  /** A store whose answers get lost, or which cannot be reached, at those statements that change a gate. */
  async function openFaulty() {
    const session = await sessions()();
    const fault: { kind: "lost" | "unsent" | undefined } = { kind: undefined };
    const faulty: PostgresSession = {
      ...session,
      async query<Row extends unknown[]>(...asked: Parameters<PostgresSession["query"]>) {
        const { kind } = asked[0].name === "gates-replace" ? fault : { kind: undefined };
        if (kind === "unsent") throw new PostgresFault("unsent", "there is no connection");
        const rows = await session.query<Row>(...asked);
        if (kind === "lost") throw new PostgresFault("lost", "there is no connection any more");
        return rows;
      },
    };
    const store = createPostgresGateStore({ session: faulty, clock: createSettableClock() });
    const approved = async (digest: string) => {
      const { gate } = await store.open(wishOf({ digest }), lifeMs);
      await store.approve(gate.id, approvalOf("alice", digest));
      return gate.id;
    };
    return { store, fault, approved };
  }

  test("[AX-11.3-5] what was consumed and whose answer was lost is sent by nobody, and over at the next sweep", async () => {
    const { store, fault, approved } = await openFaulty();
    const [lost, unsent, control] = [await approved("1"), await approved("2"), await approved("3")];
    fault.kind = "lost";
    await expect(store.consume(lost)).rejects.toMatchObject({ code: "storage_failed" });
    fault.kind = "unsent";
    await expect(store.consume(unsent)).rejects.toMatchObject({ code: "rate_limited" });
    fault.kind = undefined;
    expect(await store.consume(control)).toBe(true);
    expect(await store.expire()).toMatchObject([{ id: lost, status: "refused", refusal: "never_sent" }]);
    expect(await store.expire()).toEqual([]);
    expect(await store.consume(lost)).toBe(false);
    // Nothing was written of it: it goes as if nothing had been.
    expect(await store.consume(unsent)).toBe(true);
    expect(await store.expire()).toEqual([]);
    expect(await store.settle(control, { status: "done" })).toBe(true);
  });

  test.each(["lost", "unsent"] as const)(
    "[AX-11.3-5] an outcome that the store could not take is kept, and told once: %s",
    async (kind) => {
      const { store, fault, approved } = await openFaulty();
      const ids = [await approved("1"), await approved("2")] as const;
      for (const id of ids) expect(await store.consume(id)).toBe(true);
      fault.kind = kind;
      await expect(store.settle(ids[0], { status: "done", resultText: "{}" })).rejects.toThrow();
      await expect(store.hold(ids[1], { status: "done", resultText: "{}" }, lifeMs)).rejects.toThrow();
      if (kind === "unsent") await expect(store.expire()).rejects.toThrow();
      fault.kind = undefined;
      const told = await store.expire();
      expect(told.map(({ id, status }) => `${ids.indexOf(id)} ${status}`).toSorted()).toEqual([
        "0 done",
        "1 held",
      ]);
      expect(await store.expire()).toEqual([]);
      expect(await store.find(ids[0])).toMatchObject({ status: "done", resultText: "{}" });
    },
  );
});

describe("approvers", () => {
  const place = placesIn("approvers", "approvers");
  approverStoreCases(async () => createPostgresApproverStore(await place()()));

  test("a row that was changed by hand and cannot be read is said, with the name", async () => {
    const store = createPostgresApproverStore(await place()());
    await store.add({ name: "anna", jwk: { kty: "OKP" } });
    await store.add({ name: "carl", jwk: { kty: "OKP" } });
    const changed = async (text: string) => {
      await server.sql("UPDATE approvers.approvers SET approver = $1 WHERE name = 'anna'", [text]);
      const { approvers, unreadable } = await store.list();
      return [approvers.map(({ approver }) => approver.name), unreadable[0]?.why];
    };
    expect(await changed('{"name":"ben","jwk":{}}')).toEqual([["carl"], "the name in it is another"]);
    expect(await changed("{")).toEqual([["carl"], "it is not JSON"]);
    expect(await changed("x".repeat(20_000))).toEqual([["carl"], "it is larger than 16384 bytes"]);
    const own = '{"name":"anna","jwk":{"kty":"OKP","d":"x"}}';
    expect(await changed(own)).toEqual([["carl"], "a private key must not be here; enrol it again"]);
    expect(await changed('{"name":"anna","jwk":{}}'), "control").toEqual([["anna", "carl"], undefined]);
  });
});

const seal = createSeal(randomBytes(32));

describe("credentials", () => {
  const place = placesIn("credentials", "oauth_credentials", "oauth_turns");
  credentialStoreCases(async () => createPostgresCredentialStore({ session: await place()(), seal }));

  test("nothing of them can be read in the engine, nor put elsewhere, nor opened with another key", async () => {
    const session = await place()();
    const store = createPostgresCredentialStore({ session, seal });
    await store.write("one", someCredential);
    await store.write("two", { ...someCredential, url: "https://other.example/" });
    const rows = await server.sql("SELECT * FROM credentials.oauth_credentials");
    expect(JSON.stringify(rows)).not.toMatch(/mcp\.example|client_secret|"one"/);
    const other = createPostgresCredentialStore({ session, seal: createSeal(randomBytes(32)) });
    await expect(other.read("one")).rejects.toThrow("sealed with another key");
    await server.sql(`UPDATE credentials.oauth_credentials AS one SET sealed = two.sealed
      FROM credentials.oauth_credentials AS two WHERE one.key_hash <> two.key_hash`);
    await expect(store.read("one")).rejects.toThrow("sealed with another key, or changed");
  });

  test("of several gateways one has its turn; one that died in it keeps the others waiting for so long and no longer", async () => {
    const open = place();
    const gateways = await Promise.all(
      [1, 2, 3].map(async () => createPostgresCredentialStore({ session: await open(), seal })),
    );
    let inside = 0;
    const turns = gateways.map((store, at) =>
      store.inTurn("one", async (kept) => {
        inside += 1;
        expect(inside).toBe(1);
        await store.write("one", { ...someCredential, resource: `r${at}` });
        inside -= 1;
        return kept?.resource;
      }),
    );
    const seen = await Promise.all(turns);
    expect(new Set(seen).size).toBe(3);
    await server.sql(`INSERT INTO credentials.oauth_turns
      SELECT key_hash, 'a dead gateway', now() + interval '1 day' FROM credentials.oauth_credentials`);
    const [first] = gateways as [(typeof gateways)[0], ...typeof gateways];
    let isIn = false;
    const waiting = first.inTurn("one", async () => {
      isIn = true;
    });
    await gateways[1]?.read("one");
    expect(isIn).toBe(false);
    await server.sql("UPDATE credentials.oauth_turns SET until = now()");
    await waiting;
    expect(isIn).toBe(true);
  });
});

describe("the authorization server", () => {
  const place = placesIn("oauth", "oauth_artifacts", "oauth_consents", "oauth_consent_tokens");
  authorizationStoreCases(async () =>
    createPostgresAuthorizationStore({ session: await place()(), seal, limits: caseBounds }),
  );

  test("payloads cannot be read in the engine", async () => {
    const store = createPostgresAuthorizationStore({ session: await place()(), seal });
    const payload = { client_secret: "hush" };
    const artifact = { kind: "Client", key: "k", payload, consent: undefined, uid: undefined, expiresAt: 9 };
    await store.put(artifact);
    expect(JSON.stringify(await server.sql("SELECT * FROM oauth.oauth_artifacts"))).not.toContain("hush");
    expect(await store.find("Client", "k", 1)).toMatchObject({ payload });
  });
});

const asking =
  (session: PostgresSession): AskPostgres =>
  (statement, values) =>
    askPostgres(session, statement, values);

describe("bridges", () => {
  const tables = ["codes", "links", "positions", "cards"].map((name) => `bridge_${name}`);
  const place = placesIn("bridges", ...tables);
  bridgeStoreCases(async () => createPostgresStore(asking(await place()())));
});

describe("devices", () => {
  const place = placesIn("push", "push_key", "push_devices");
  pushStoreCases(() => {
    const open = place();
    return async () => createPostgresPushStore(asking(await open()), seal);
  });

  test("an address cannot be read in the engine", async () => {
    const store = createPostgresPushStore(asking(await place()()), seal);
    const endpoint = "https://push.example/device";
    await store.add({ endpoint, p256dh: "p", auth: "a", name: "phone", at: 1 });
    await store.key();
    const rows = await server.sql("SELECT * FROM push.push_devices, push.push_key");
    expect(JSON.stringify(rows)).not.toMatch(/push\.example|"kty"/);
    expect(await store.list()).toMatchObject([{ endpoint }]);
  });
});
