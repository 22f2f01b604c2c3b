import { generateKeyPairSync } from "node:crypto";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { scratch } from "../../testing/scratch.ts";
import { anchorKeys } from "../proofs/anchors.ts";
import type { Passkey, PasskeyJwk } from "../proofs/passkey.ts";
import { type Approver, anchorOf } from "./approver-store.ts";
import { createFileApproverStore } from "./approver-store-files.ts";

const directory = () => join(scratch(), "approvers");

const open = () => createFileApproverStore(directory());

const passkeyOf = (more: Partial<Passkey> = {}): Passkey => ({
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

describe("approvers in files", () => {
  const anna: Approver = { name: "anna", passkey: passkeyOf() };
  const jwk = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" });
  const ben: Approver = { name: "Ben", jwk };

  test("gives back whom it was given, by name", async () => {
    const store = await open();
    expect(await store.list()).toEqual([]);
    await store.add(anna);
    await store.add(ben);
    expect(await store.list()).toEqual([ben, anna]);
  });

  test("a name is taken once, in whatever case", async () => {
    const store = await open();
    await store.add(anna);
    for (const name of ["anna", "ANNA"]) {
      await expect(store.add({ name, passkey: passkeyOf() })).rejects.toMatchObject({ code: "id_conflict" });
    }
    expect(await store.list()).toEqual([anna]);
  });

  test("of many who take a name at once, one has it", async () => {
    const store = await open();
    const added = await Promise.allSettled(
      Array.from({ length: 20 }, () => store.add({ name: "anna", passkey: passkeyOf() })),
    );
    expect(added.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await store.list()).toHaveLength(1);
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
    expect(await store.list()).toEqual([]);
  });

  test("keeps what a passkey has counted, and never less", async () => {
    const store = await open();
    await store.add(anna);
    await Promise.all([5, 12, 9].map((counter) => store.keepCounter("anna", counter)));
    expect(await store.list()).toEqual([{ ...anna, passkey: { ...anna.passkey, counter: 12 } }]);
  });

  test("who may log in stays marked, also when it has counted; nobody else is", async () => {
    const store = await open();
    const carl: Approver = { name: "carl", passkey: passkeyOf(), mayLogIn: true };
    await store.add(carl);
    await store.add({ ...anna, mayLogIn: "yes" } as unknown as Approver);
    await store.keepCounter("carl", 5);
    await store.keepCounter("anna", 5);
    const [first, second] = await store.list();
    expect(first).not.toHaveProperty("mayLogIn");
    expect(second).toEqual({ ...carl, passkey: { ...carl.passkey, counter: 5 } });
  });

  test("who was removed is gone, and nobody else", async () => {
    const store = await open();
    await store.add(anna);
    await store.add(ben);
    for (const name of ["carl", "../anna", "ANNA"]) expect(await store.remove(name), name).toBe(false);
    expect(await store.remove("anna")).toBe(true);
    expect(await store.list()).toEqual([ben]);
    expect(await store.remove("anna")).toBe(false);
  });

  test("counts for nobody else, and makes nobody up", async () => {
    const store = await open();
    await store.add(ben);
    await store.keepCounter("Ben", 3);
    await store.keepCounter("anna", 3);
    expect(await store.list()).toEqual([ben]);
  });

  test("are for their owner alone, one file each, and leave no drafts", async () => {
    const dir = directory();
    const store = await createFileApproverStore(dir);
    const passkey = passkeyOf();
    await store.add({ name: "anna", passkey });
    await expect(store.add({ name: "anna", passkey })).rejects.toMatchObject({ code: "id_conflict" });
    expect(readdirSync(dir)).toEqual(["anna.json"]);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    expect(statSync(join(dir, "anna.json")).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(join(dir, "anna.json"), "utf8"))).toEqual({ name: "anna", passkey });
  });

  test("who was deleted is not brought back by a count", async () => {
    const dir = directory();
    const store = await createFileApproverStore(dir);
    await store.add({ name: "anna", passkey: passkeyOf() });
    rmSync(join(dir, "anna.json"));
    await store.keepCounter("anna", 7);
    expect(readdirSync(dir)).toEqual([]);
  });

  test("a file written by hand is counted in all the same", async () => {
    const dir = directory();
    const store = await createFileApproverStore(dir);
    const passkey = passkeyOf();
    writeFileSync(join(dir, "anna.json"), JSON.stringify({ passkey, name: "anna" }, null, 8));
    await store.keepCounter("anna", 2);
    expect(await store.list()).toEqual([{ name: "anna", passkey: { ...passkey, counter: 2 } }]);
  });

  test("what is not readable is said, with the name", async () => {
    const dir = directory();
    const store = await createFileApproverStore(dir);
    writeFileSync(join(dir, "anna.json"), "{");
    await expect(store.list()).rejects.toThrow("approver anna");
    writeFileSync(join(dir, "anna.json"), JSON.stringify({ name: "ben", passkey: passkeyOf() }));
    await expect(store.list()).rejects.toThrow("the name in the file is not the file's name");
  });
});

test("approvers of both kinds are anchors", async () => {
  const store = await open();
  const passkey = passkeyOf();
  await store.add({ name: "anna", passkey });
  await store.add({ name: "ben", jwk: passkeyOf().publicKey });
  const keys = anchorKeys((await store.list()).map(anchorOf));
  expect(keys).toMatchObject([
    { kind: "passkey", name: "anna", passkey },
    { kind: "key", name: "ben" },
  ]);
});
