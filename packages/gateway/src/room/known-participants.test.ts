import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { openDatabase, type PublicJwk } from "@mcpx/host";
import { afterEach, beforeEach, expect, test } from "vitest";
import { KnownParticipants } from "./known-participants.ts";
import { gatewayMigrations } from "./state-schema.ts";

let folder: string;
let db: DatabaseSync;
let participants: KnownParticipants;

const open = () =>
  openDatabase(join(folder, "state.db"), { component: "gateway", migrations: gatewayMigrations });

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "mcpx-known-"));
  db = open();
  participants = new KnownParticipants(db, 1_000);
});
afterEach(() => {
  db.close();
  rmSync(folder, { recursive: true });
});

/** The same participants as a later process knows them. */
function reopened(): KnownParticipants {
  db.close();
  db = open();
  return new KnownParticipants(db, 1_000);
}

const newKey = () =>
  generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" }) as unknown as PublicJwk;
const mismatch = expect.objectContaining({ code: "key_mismatch" });

test("[X1-10.3-2] who was in a room is known at once, there and in general, and after a flush for good", () => {
  expect(participants.wasSeen("alice", undefined)).toBe(false);
  participants.saw("room", "alice");
  const known = (from: KnownParticipants) => [
    from.wasSeen("alice", undefined),
    from.wasSeen("alice", "room"),
    from.wasSeen("alice", "other"),
    from.wasSeen("bob", "room"),
  ];
  expect(known(participants)).toEqual([true, true, false, false]);
  participants.flush();
  expect(known(participants)).toEqual([true, true, false, false]);
  participants.saw("room", "alice");
  participants.flush();
  expect(known(reopened())).toEqual([true, true, false, false]);
});

test("a name with a line end in it cannot pass for another pair", () => {
  participants.saw("room", "a");
  expect(participants.wasSeen("room\na", undefined)).toBe(false);
});

test("[X1-7.1-2] the first key stays, whoever asks later, until it is reset", () => {
  const key = newKey();
  participants.bindKey("alice", key);
  participants.bindKey("alice", { ...key });
  expect(() => participants.bindKey("alice", newKey())).toThrow(mismatch);
  const later = reopened();
  expect(() => later.bindKey("alice", newKey())).toThrow(mismatch);
  later.bindKey("alice", key);
  expect(later.resetKey("alice")).toBe(true);
  expect(later.resetKey("alice")).toBe(false);
  const next = newKey();
  later.bindKey("alice", next);
  expect(() => later.bindKey("alice", key)).toThrow(mismatch);
});

test("so many are remembered and no more; those that are stay, and a key that is reset is room for another", () => {
  const few = new KnownParticipants(db, 2);
  for (const id of ["a", "b", "c"]) few.saw("t", id);
  few.flush();
  few.saw("t", "d");
  few.flush();
  expect(["a", "b", "c", "d"].map((id) => few.wasSeen(id, "t"))).toEqual([true, true, false, false]);
  const key = (x: string) => ({ kty: "OKP", crv: "Ed25519", x: x.repeat(43) }) as const;
  few.bindKey("a", key("A"));
  few.bindKey("b", key("B"));
  few.bindKey("a", key("A"));
  expect(() => few.bindKey("c", key("C"))).toThrow("no more than 2 keys");
  expect(() => few.bindKey("b", key("C"))).toThrow("Another key is registered");
  expect(few.resetKey("a")).toBe(true);
  few.bindKey("c", key("C"));
  // Counted again after a restart.
  expect(() => new KnownParticipants(db, 2).bindKey("d", key("D"))).toThrow("no more than 2 keys");
});
