import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { scratch } from "../../testing/scratch.ts";
import { anchorKeys } from "../proofs/anchors.ts";
import { anchorOf } from "./approver-store.ts";
import { approverStoreCases, passkeyOf } from "./approver-store-cases.ts";
import { createFileApproverStore } from "./approver-store-files.ts";

const directory = () => join(scratch(), "approvers");

const open = () => createFileApproverStore(directory());

describe("approvers in files", () => {
  approverStoreCases(open);

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
