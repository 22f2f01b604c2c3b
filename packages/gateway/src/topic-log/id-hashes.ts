// Hashes of ids by their seq: which seqs may have an id. Pure, and only a hint: the caller looks the entry up.
// Twelve bytes an entry when full: each hash at its seq's place, and an open-addressing table of these places.
import { endianness } from "node:os";

/** Seqs whose hashes are stored together. */
export const blockLength = 1_024;

export class IdHashes {
  /** The oldest and the newest seq whose hashes are here; where there are none, `last` is the one before `first`. */
  first: number;
  last: number;
  #hashes = new Uint32Array(0);
  /** Places plus one; 0 is free. Twice as many as hashes, and a power of two. */
  #slots = new Uint32Array(0);
  readonly #firstKept: () => number;

  /** `firstKept` tells from which seq on entries are still there: what is older goes when room is needed. */
  constructor(firstKept: () => number) {
    this.#firstKept = firstKept;
    this.first = firstKept();
    this.last = this.first - 1;
  }

  get bytes(): number {
    return this.#hashes.byteLength + this.#slots.byteLength;
  }

  /** Seqs come in their order; those left out have no entry any more. */
  add(seq: number, hash: number): void {
    this.reserve(seq);
    if (seq < this.first) return;
    const place = seq - this.first;
    this.#hashes[place] = hash;
    this.#fill(place, place);
    this.last = seq;
  }

  /** A stored block, of which only the seqs after `last` are new. */
  addBlock(end: number, bytes: Uint8Array): void {
    this.reserve(end);
    const from = Math.max(this.last + 1, end - blockLength + 1);
    if (from > end) return;
    this.#hashes.set(readBlock(bytes).subarray(from - end - 1), from - this.first);
    this.#fill(from - this.first, end - this.first);
    this.last = end;
  }

  /** Looks at the seqs with this hash until something is found. */
  find<T>(hash: number, look: (seq: number) => T | undefined): T | undefined {
    const mask = this.#slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const place = (this.#slots[slot] ?? 0) - 1;
      if (place === -1) return undefined;
      const found = this.#hashes[place] === hash ? look(this.first + place) : undefined;
      if (found !== undefined) return found;
    }
  }

  /** Makes room for the seqs up to `seq`, and a quarter more. */
  reserve(seq: number): void {
    if (seq - this.first < this.#hashes.length) return;
    const first = Math.max(this.first, this.#firstKept());
    const kept = this.#hashes.subarray(first - this.first, this.last + 1 - this.first);
    const slots = 2 ** Math.ceil(Math.log2(2.5 * Math.max(seq + 1 - first, 16)));
    this.#hashes = new Uint32Array(slots / 2);
    this.#slots = new Uint32Array(slots);
    this.first = first;
    this.last = Math.max(this.last, first - 1);
    this.#hashes.set(kept);
    this.#fill(0, kept.length - 1);
  }

  /** The hashes of the block that ends with `end`, as bytes. */
  block(end: number): Buffer {
    const bytes = Buffer.alloc(4 * blockLength);
    for (let n = 0; n < blockLength; n += 1) {
      bytes.writeUInt32LE(this.#hashes[end - blockLength + 1 + n - this.first] ?? 0, 4 * n);
    }
    return bytes;
  }

  /** Puts the places from `start` to `end` into the table. */
  #fill(start: number, end: number): void {
    const hashes = this.#hashes;
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let place = start; place <= end; place += 1) {
      let slot = (hashes[place] as number) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = place + 1;
    }
  }
}

function readBlock(bytes: Uint8Array): Uint32Array {
  // A copy has the alignment that numbers need.
  const copy = bytes.slice();
  if (endianness() === "BE") Buffer.from(copy.buffer).swap32();
  return new Uint32Array(copy.buffer);
}
