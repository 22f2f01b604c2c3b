import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
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
    const store = createFileApproverStore(dir);
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
    const store = createFileApproverStore(dir);
    await store.add({ name: "anna", passkey: passkeyOf() });
    rmSync(join(dir, "anna.json"));
    await store.keepCounter("anna", 7);
    expect(readdirSync(dir)).toEqual([]);
  });

  test("a file written by hand is counted in all the same", async () => {
    const dir = directory();
    const store = createFileApproverStore(dir);
    const passkey = passkeyOf();
    mkdirSync(dir);
    writeFileSync(join(dir, "anna.json"), JSON.stringify({ passkey, name: "anna" }, null, 8));
    await store.keepCounter("anna", 2);
    expect((await store.list()).approvers).toEqual([
      {
        approver: { name: "anna", passkey: { ...passkey, counter: 2 } },
        place: join(dir, "anna.json"),
        since: expect.any(Number),
      },
    ]);
  });

  test("private keys, files others may write to, other names, links and nonsense do not count, and it is said why", async () => {
    const dir = directory();
    const store = createFileApproverStore(dir);
    const jwk = passkeyOf().publicKey;
    await store.add({ name: "alice", jwk });
    const put = (file: string, text: string) => writeFileSync(join(dir, file), text, { mode: 0o600 });
    put("bob.json", JSON.stringify({ name: "bob", jwk: { ...jwk, d: "x" } }));
    put("carol.json", JSON.stringify({ name: "dave", jwk }));
    put("eve.json", "{");
    put("frank.json", JSON.stringify({ name: "frank", jwk }));
    chmodSync(join(dir, "frank.json"), 0o666);
    put("heidi.json", JSON.stringify({ name: "heidi", jwk, more: "x".repeat(20_000) }));
    put("notes.txt", "not one of them");
    symlinkSync(join(dir, "alice.json"), join(dir, "grace.json"));
    const { approvers, unreadable } = await store.list();
    expect(approvers.map(({ approver }) => approver.name)).toEqual(["alice"]);
    expect(unreadable.map(({ name, place, why }) => [name, place, why])).toEqual([
      ["bob", join(dir, "bob.json"), "a private key must not be here; enrol it again"],
      ["carol", join(dir, "carol.json"), "the name in it is another"],
      ["eve", join(dir, "eve.json"), "it is not JSON"],
      ["frank", join(dir, "frank.json"), "other users may write to the file; chmod 600"],
      ["heidi", join(dir, "heidi.json"), "it is larger than 16384 bytes"],
    ]);
  });
});

test("approvers of both kinds are anchors", async () => {
  const store = await open();
  const passkey = passkeyOf();
  await store.add({ name: "anna", passkey });
  await store.add({ name: "ben", jwk: passkeyOf().publicKey });
  const keys = anchorKeys((await store.list()).approvers.map((one) => anchorOf(one.approver)));
  expect(keys).toMatchObject([
    { kind: "passkey", name: "anna", passkey },
    { kind: "key", name: "ben" },
  ]);
});
