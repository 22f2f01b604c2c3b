// The chain of approvers in `state.db`: entries are appended, never changed. Two processes may append; the second of them
// is told that its entry follows another one now. [B-KEY-2]
import type { DatabaseSync } from "node:sqlite";
import { immediately } from "@mcpx/host";
import { type ChainEntry, type ChainHead, entryText } from "./chain-entry.ts";

export const authorityChainTable = `
  CREATE TABLE authority_chain (
    n INTEGER PRIMARY KEY,
    entry TEXT NOT NULL
  ) STRICT;
`;

/** From this number on. */
export function readChainTexts(db: DatabaseSync, from = 0): string[] {
  const rows = db.prepare("SELECT n, entry FROM authority_chain WHERE n >= ? ORDER BY n").all(from);
  return rows.map(({ entry }) => String(entry));
}

export function readChainText(db: DatabaseSync, n: number): string | undefined {
  const row = db.prepare("SELECT entry FROM authority_chain WHERE n = ?").get(n);
  return row === undefined ? undefined : String(row.entry);
}

export function chainLength(db: DatabaseSync): number {
  return Number(db.prepare("SELECT count(*) AS length FROM authority_chain").get()?.length ?? 0);
}

/** False where somebody else was faster: nothing is written then. On disk before it returns. */
export function appendEntry(db: DatabaseSync, entry: ChainEntry, head: ChainHead | undefined): boolean {
  return immediately(db, () => {
    if (chainLength(db) !== (head?.n ?? -1) + 1) return false;
    db.prepare("INSERT INTO authority_chain (n, entry) VALUES (?, ?)").run(entry.n, entryText(entry));
    return true;
  });
}
