// Hashes of ids by their seq: which seqs may have an id. Pure, and only a hint: whoever asks looks the entry up.
// Twelve bytes an entry when full: each hash at its seq's place, and an open-addressing table of these places.

/** Seqs whose hashes are stored together. */
export const blockLength = 1_024;

export class IdHashes {
  /** The oldest and the newest seq whose hashes are here. */
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
    if (seq < this.first) return;
    this.reserve(seq);
    const place = seq - this.first;
    this.#hashes[place] = hash;
    this.#fill(place, hash);
    this.last = seq;
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
    this.#hashes.set(kept);
    kept.forEach((hash, place) => {
      this.#fill(place, hash);
    });
  }

  /** The hashes of the block that ends with `end`, as bytes. */
  block(end: number): Buffer {
    const bytes = Buffer.alloc(4 * blockLength);
    for (let n = 0; n < blockLength; n += 1) {
      bytes.writeUInt32LE(this.#hashes[end - blockLength + 1 + n - this.first] ?? 0, 4 * n);
    }
    return bytes;
  }

  #fill(place: number, hash: number): void {
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
    this.#slots[slot] = place + 1;
  }
}
