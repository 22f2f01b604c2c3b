// Which issuer an id belongs to. The first to show it keeps it, so that one issuer's `alice` never becomes
// another's: levels, keys and admin decisions hang on the id.
import type { DatabaseSync } from "node:sqlite";
import { immediately } from "../sqlite/transaction.ts";

/** Whether the id is the issuer's, claiming it where it is nobody's. The caller may hold a transaction. */
export function claimId(db: DatabaseSync, id: string, issuer: string): boolean {
  const owner = ownerOf(db, id);
  if (owner !== undefined) return owner === issuer;
  const insert = () =>
    db.prepare("INSERT INTO id_owners (id, issuer) VALUES (?, ?) ON CONFLICT DO NOTHING").run(id, issuer);
  if (db.isTransaction) insert();
  else immediately(db, insert);
  return ownerOf(db, id) === issuer;
}

/** Whether a token has named the id, ours or another issuer's. */
export function hasOwner(db: DatabaseSync, id: string): boolean {
  return ownerOf(db, id) !== undefined;
}

/** Frees the ids of issuers that are no longer configured. */
export function forgetOwners(db: DatabaseSync, configured: readonly string[]): void {
  db.prepare("DELETE FROM id_owners WHERE issuer NOT IN (SELECT value FROM json_each(?))").run(
    JSON.stringify(configured),
  );
}

function ownerOf(db: DatabaseSync, id: string): string | undefined {
  const row = db.prepare("SELECT issuer FROM id_owners WHERE id = ?").get(id);
  return row === undefined ? undefined : String(row.issuer);
}
