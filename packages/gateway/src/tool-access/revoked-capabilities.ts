// Capabilities that were taken back, by topic, issuer and id: on disk until they are over. In memory only their hashes,
// sixteen bytes each when full; a hash that is not there is an answer, one that is there is looked up. [AC-6-4]
import { hash } from "node:crypto";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { durably } from "@mcpx/host";
import { McpxError } from "@mcpx/protocol";
import { HashSet } from "../room/hash-set.ts";

export interface RevocationBounds {
  /** Ids that are not over, of everybody; the last tenth is for admins. */
  idsMax: number;
  /** And of one issuer, in all its topics; admins are not bound by it. */
  idsPerIssuerMax: number;
}

const defaultBounds: RevocationBounds = { idsMax: 1_000_000, idsPerIssuerMax: 100_000 };
const adminShare = 0.1;
const hashBytes = 8;

export class RevokedCapabilities {
  readonly #db: DatabaseSync;
  readonly #bounds: RevocationBounds;
  readonly #row: StatementSync;
  /** `undefined` until it is needed. */
  #hashes: HashSet | undefined;

  constructor(db: DatabaseSync, bounds: Partial<RevocationBounds> = {}) {
    this.#db = db;
    this.#bounds = { ...defaultBounds, ...bounds };
    this.#row = db.prepare(
      "SELECT until FROM revoked_capabilities WHERE topic = ? AND issuer = ? AND jti = ?",
    );
  }

  /** Bytes of memory it takes. */
  get bytes(): number {
    return this.#hashes?.bytes ?? 0;
  }

  /** What an issuer takes back itself, within its share. Durable when it returns. */
  add(topic: string, issuer: string, ids: readonly string[], until: number, now: number): void {
    const { idsMax, idsPerIssuerMax } = this.#bounds;
    const sql = "SELECT count(*) AS n FROM revoked_capabilities WHERE issuer = ? AND until > ?";
    const own = Number(this.#db.prepare(sql).get(issuer, now)?.n);
    if (own + ids.length > idsPerIssuerMax) throw fullError();
    this.#keep(topic, issuer, ids, until, now, idsMax - Math.floor(idsMax * adminShare));
  }

  /** What an admin takes back in its place: no issuer can fill the list against that. Durable when it returns. */
  addForAdmin(topic: string, issuer: string, id: string, until: number, now: number): void {
    this.#keep(topic, issuer, [id], until, now, this.#bounds.idsMax);
  }

  #keep(
    topic: string,
    issuer: string,
    ids: readonly string[],
    until: number,
    now: number,
    idsMax: number,
  ): void {
    const hashes = this.#makeSpace(ids.length, now, idsMax);
    const insert = this.#db.prepare(`
      INSERT INTO revoked_capabilities (topic, issuer, jti, until) VALUES (?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET until = max(until, excluded.until)`);
    const insertHashes = this.#db.prepare("INSERT INTO revoked_hashes (until, hashes) VALUES (?, ?)");
    const block = Buffer.concat(ids.map((jti) => hashOf(topic, issuer, jti)));
    durably(this.#db, () => {
      for (const jti of ids) insert.run(topic, issuer, jti, until);
      insertHashes.run(until, block);
    });
    addBlock(hashes, block);
  }

  has(topic: string, issuer: string, jti: string, now: number): boolean {
    const hash = hashOf(topic, issuer, jti);
    if (!this.#load(now).has(hash.readUInt32LE(0), hash.readUInt32LE(4))) return false;
    const row = this.#row.get(topic, issuer, jti);
    return row !== undefined && Number(row.until) > now;
  }

  #makeSpace(more: number, now: number, idsMax: number): HashSet {
    if (this.#load(now).count + more > idsMax) this.#forget(now);
    const hashes = this.#load(now);
    if (hashes.count + more > idsMax) throw fullError();
    return hashes;
  }

  #forget(now: number): void {
    for (const table of ["revoked_capabilities", "revoked_hashes"]) {
      this.#db.prepare(`DELETE FROM ${table} WHERE until <= ?`).run(now);
    }
    this.#hashes = undefined;
  }

  /** The hashes of a notice are stored together: a million are read in a moment, which their rows would not be. */
  #load(now: number): HashSet {
    if (this.#hashes !== undefined) return this.#hashes;
    const hashes = new HashSet();
    const size = this.#db.prepare("SELECT sum(length(hashes)) AS bytes FROM revoked_hashes WHERE until > ?");
    hashes.reserve(Number(size.get(now)?.bytes ?? 0) / hashBytes);
    const blocks = this.#db.prepare("SELECT hashes FROM revoked_hashes WHERE until > ?").iterate(now);
    for (const { hashes: block } of blocks) addBlock(hashes, Buffer.from(block as Uint8Array));
    this.#hashes = hashes;
    return hashes;
  }
}

function fullError(): McpxError {
  return new McpxError("storage_full", "the list of revoked capabilities is full");
}

function addBlock(hashes: HashSet, block: Buffer): void {
  for (let at = 0; at < block.length; at += hashBytes) {
    hashes.add(block.readUInt32LE(at), block.readUInt32LE(at + 4));
  }
}

function hashOf(topic: string, issuer: string, jti: string): Buffer {
  return hash("sha256", `${topic}\n${issuer}\n${jti}`, "buffer").subarray(0, hashBytes);
}
