// What every store of approvers has to do.
import { generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import type { Passkey, PasskeyJwk } from "../proofs/passkey.ts";
import type { Approver, ApproverStore } from "./approver-store.ts";

export const passkeyOf = (more: Partial<Passkey> = {}): Passkey => ({
  credentialId: "Y3JlZGVudGlhbA",
  publicKey: generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey.export({
    format: "jwk",
  }) as PasskeyJwk,
  counter: 1,
  rpId: "localhost",
  origin: "http://localhost:7332",
  transports: ["internal"],
  ...more,
});

const listed = async (store: ApproverStore) => (await store.list()).approvers.map(({ approver }) => approver);

/** Each call opens an empty one. */
export function approverStoreCases(open: () => ApproverStore | Promise<ApproverStore>): void {
  const anna: Approver = { name: "anna", passkey: passkeyOf() };
  const jwk = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" });
  const ben = { name: "Ben", jwk } satisfies Approver;

  test("gives back whom it was given, by name", async () => {
    const store = await open();
    expect(await listed(store)).toEqual([]);
    await store.add(anna);
    await store.add(ben);
    expect(await listed(store)).toEqual([ben, anna]);
  });

  test("a name is taken once, in whatever case", async () => {
    const store = await open();
    await store.add(anna);
    for (const name of ["anna", "ANNA"]) {
      await expect(store.add({ name, passkey: passkeyOf() })).rejects.toMatchObject({ code: "id_conflict" });
    }
    expect(await listed(store)).toEqual([anna]);
  });

  test("of many who take a name at once, one has it", async () => {
    const store = await open();
    const added = await Promise.allSettled(
      Array.from({ length: 20 }, () => store.add({ name: "anna", passkey: passkeyOf() })),
    );
    expect(added.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await listed(store)).toHaveLength(1);
  });

  test("takes nobody who is none", async () => {
    const store = await open();
    const wrong = [
      { name: "../anna", passkey: passkeyOf() },
      { name: "", passkey: passkeyOf() },
      { name: "anna", passkey: { ...passkeyOf(), rpId: "" } },
      { name: "anna", passkey: { ...passkeyOf(), origin: "http://localhost:7332/path" } },
      { name: "anna", passkey: { ...passkeyOf(), credentialId: "not base64url" } },
      { name: "anna", passkey: { ...passkeyOf(), counter: -1 } },
      { name: "anna", passkey: { ...passkeyOf(), publicKey: { kty: "oct", k: "AAAA" } } },
    ] as unknown as Approver[];
    for (const one of wrong) await expect(store.add(one), JSON.stringify(one)).rejects.toThrow();
    expect(await listed(store)).toEqual([]);
  });

  test("keeps what a passkey has counted, and never less", async () => {
    const store = await open();
    await store.add(anna);
    await Promise.all([5, 12, 9].map((counter) => store.keepCounter("anna", counter)));
    expect(await listed(store)).toEqual([{ ...anna, passkey: { ...anna.passkey, counter: 12 } }]);
  });

  test("who may log in stays marked, also when it has counted; nobody else is", async () => {
    const store = await open();
    const carl: Approver = { name: "carl", passkey: passkeyOf(), mayLogIn: true };
    await store.add(carl);
    await store.add({ ...anna, mayLogIn: "yes" } as unknown as Approver);
    await store.keepCounter("carl", 5);
    await store.keepCounter("anna", 5);
    const [first, second] = await listed(store);
    expect(first).not.toHaveProperty("mayLogIn");
    expect(second).toEqual({ ...carl, passkey: { ...carl.passkey, counter: 5 } });
  });

  test("who was removed is gone, and nobody else", async () => {
    const store = await open();
    await store.add(anna);
    await store.add(ben);
    for (const name of ["carl", "../anna", "ANNA"]) expect(await store.remove(name), name).toBe(false);
    expect(await store.remove("anna")).toBe(true);
    expect(await listed(store)).toEqual([ben]);
    expect(await store.remove("anna")).toBe(false);
  });

  test("counts for nobody else, and makes nobody up", async () => {
    const store = await open();
    await store.add(ben);
    await store.keepCounter("Ben", 3);
    await store.keepCounter("anna", 3);
    expect(await listed(store)).toEqual([ben]);
  });

  test("what is read twice is the same, until anybody comes, counts or goes; known is what was read last", async () => {
    const store = await open();
    const seen = [await store.list()];
    const look = async () => {
      seen.push(await store.list());
      expect(await store.list()).toBe(seen.at(-1));
      expect(store.known()).toBe(seen.at(-1));
      expect(new Set(seen).size).toBe(seen.length);
    };
    await store.add(anna);
    await look();
    await store.add(ben);
    await look();
    await store.keepCounter("anna", 100);
    await look();
    await store.remove("anna");
    expect(store.known().approvers.map(({ approver }) => approver.name)).toEqual(["Ben"]);
    await look();
  });

  test("of two, it is known who came first", async () => {
    const store = await open();
    await store.add(ben);
    await store.add(anna);
    const [first, second] = (await store.list()).approvers;
    expect([first?.approver.name, second?.approver.name]).toEqual(["Ben", "anna"]);
    expect(first?.since).toBeLessThanOrEqual(second?.since ?? Number.NaN);
  });

  test("somebody is written down anew with the key they have, and nobody else is", async () => {
    const store = await open();
    await store.add(ben);
    expect(await store.replace({ ...ben, kept: "sealed" })).toBe(true);
    expect(await listed(store)).toEqual([{ ...ben, kept: "sealed" }]);
    const other = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" });
    for (const one of [
      { name: "Ben", jwk: other },
      { name: "carl", jwk },
      { name: "BEN", jwk },
    ])
      expect(await store.replace(one), one.name).toBe(false);
    await store.add(anna);
    expect(await store.replace({ name: "anna", jwk })).toBe(false);
    expect(await listed(store)).toEqual([{ ...ben, kept: "sealed" }, anna]);
  });
}
