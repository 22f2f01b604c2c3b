// Capabilities that were revoked, by topic, issuer and id: stored until they are over. In memory only their hashes,
// sixteen bytes each when full; a hash that is not there is an answer, one that is there is looked up. [AC-6-4]
import { hash } from "node:crypto";
import { McpxError } from "@mcpx/protocol";
import { HashSet } from "../room/hash-set.ts";
import type { RevokedCapabilityStore, RevokedIds } from "../state/room-state.ts";

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
  readonly #store: RevokedCapabilityStore;
  readonly #bounds: RevocationBounds;
  /** `undefined` until it is needed. */
  #hashes: Promise<HashSet> | undefined;
  #bytes = 0;
  /** One after the other: each counts what is there first. */
  #adding: Promise<void> = Promise.resolve();

  constructor(store: RevokedCapabilityStore, bounds: Partial<RevocationBounds> = {}) {
    this.#store = store;
    this.#bounds = { ...defaultBounds, ...bounds };
  }

  /** Bytes of memory it takes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** What an issuer takes back itself, within its share. Durable when it resolves. */
  add(revoked: RevokedIds, now: number): Promise<void> {
    const { idsMax, idsPerIssuerMax } = this.#bounds;
    return this.#inTurn(async () => {
      const own = await this.#store.countOf(revoked.issuer, now);
      if (own + revoked.ids.length > idsPerIssuerMax) throw fullError();
      await this.#keep(revoked, now, idsMax - Math.floor(idsMax * adminShare));
    });
  }

  /** What an admin takes back in its place: no issuer can fill the list against that. Durable when it resolves. */
  addForAdmin(revoked: RevokedIds, now: number): Promise<void> {
    return this.#inTurn(() => this.#keep(revoked, now, this.#bounds.idsMax));
  }

  async has(topic: string, issuer: string, jti: string, now: number): Promise<boolean> {
    const hash = hashOf(topic, issuer, jti);
    const hashes = await this.#load(now);
    if (!hashes.has(hash.readUInt32LE(0), hash.readUInt32LE(4))) return false;
    const until = await this.#store.until(topic, issuer, jti);
    return until !== undefined && until > now;
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#adding.then(work);
    this.#adding = done.catch(() => {});
    return done;
  }

  async #keep(revoked: RevokedIds, now: number, idsMax: number): Promise<void> {
    const { topic, issuer, ids } = revoked;
    const hashes = await this.#makeSpace(ids.length, now, idsMax);
    const block = Buffer.concat(ids.map((jti) => hashOf(topic, issuer, jti)));
    await this.#store.keep(revoked, block);
    addBlock(hashes, block);
    this.#bytes = hashes.bytes;
  }

  async #makeSpace(more: number, now: number, idsMax: number): Promise<HashSet> {
    const before = await this.#load(now);
    if (before.count + more <= idsMax) return before;
    await this.#store.forget(now);
    this.#hashes = undefined;
    const hashes = await this.#load(now);
    if (hashes.count + more > idsMax) throw fullError();
    return hashes;
  }

  #load(now: number): Promise<HashSet> {
    // Not kept where it failed.
    this.#hashes ??= this.#read(now).catch((error: unknown) => {
      this.#hashes = undefined;
      throw error;
    });
    return this.#hashes;
  }

  /** The hashes of a notice are stored together: a million are read in a moment, which their rows would not be. */
  async #read(now: number): Promise<HashSet> {
    const blocks = (await this.#store.blocks(now)).map((block) => Buffer.from(block));
    const hashes = new HashSet();
    hashes.reserve(blocks.reduce((sum, { length }) => sum + length, 0) / hashBytes);
    for (const block of blocks) addBlock(hashes, block);
    this.#bytes = hashes.bytes;
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
