// A data directory as a build from before signed askers left it: `older-build/*.sql` are its stores, with a call that
// waits, a result that is held, a call that was approved, pins, an approver, tokens, the audit and a room. Only times are
// made anew, so that nothing in it is over.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

const dumps = join(import.meta.dirname, "..", "older-build");
const hourMs = 3_600_000;

/** The gates in it, by what they are. */
export const olderGates = {
  waiting: "k0M7JwBWT_li0cB2fzQ8uN2Ir-n6jCSk",
  held: "D3PHs0m8xbPmwpmsXZm7xqOEr3Ohx5Ph",
  done: "5lxwMT-27V7TJq6so9JZ66Bgh_nNtzZM",
} as const;

const alice = {
  kty: "OKP",
  crv: "Ed25519",
  x: "Z60vRT58izL95XI15Qv22STdQYb2mbisFiNULrtmFAc",
} as const;
/** Made for this directory, and good for nothing else. */
const alicePrivate = { ...alice, d: "Xw0tTHRjYhTW6s6zYzi2HJ8d1wzdCEuMwEg5Ic4XES4" };

export function restoreOlderData(dataDir: string): void {
  const state = restore(join(dataDir, "state.db"), "state.sql");
  const now = Date.now();
  state
    .prepare(
      `UPDATE gates SET created_at = ?1, expires_at = ?1 + ${hourMs},
         facts = CASE status WHEN 'held' THEN json_set(facts, '$.heldAt', ?1) ELSE facts END`,
    )
    .run(now);
  state.prepare("UPDATE gates SET settled_at = ? WHERE settled_at IS NOT NULL").run(now);
  state.close();
  restore(join(dataDir, "topics.db"), "topics.sql").close();
  for (const folder of ["approvers", "keys"]) mkdirSync(join(dataDir, folder), { mode: 0o700 });
  const write = (path: string, value: object) =>
    writeFileSync(join(dataDir, path), JSON.stringify(value), { mode: 0o600 });
  write("approvers/alice.json", { name: "alice", jwk: alice });
  write("keys/default.jwk", alicePrivate);
}

function restore(path: string, dump: string): DatabaseSync {
  const db = new DatabaseSync(path);
  db.exec("PRAGMA journal_mode = WAL");
  db.exec(readFileSync(join(dumps, dump), "utf8"));
  return db;
}
