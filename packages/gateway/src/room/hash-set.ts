// A set of 64-bit hashes, given in halves: open addressing in one typed array, at most half full. Pure. A caller that
// finds one here looks it up elsewhere, so nobody gains by making two collide.

const slotsMin = 1_024;

export class HashSet {
  count = 0;
  /** Pairs of halves; a lower half of 0 is a free slot. */
  #slots = new Uint32Array(2 * slotsMin);

  get bytes(): number {
    return this.#slots.byteLength;
  }

  add(high: number, low: number): void {
    this.reserve(this.count + 1);
    if (this.#put(high, low || 1)) this.count += 1;
  }

  has(high: number, low: number): boolean {
    const place = this.#placeOf(high, low || 1);
    return this.#slots[place + 1] !== 0;
  }

  /** Makes room for so many in all. */
  reserve(count: number): void {
    if (4 * count <= this.#slots.length) return;
    const old = this.#slots;
    this.#slots = new Uint32Array(2 ** Math.ceil(Math.log2(4 * count)));
    for (let at = 0; at < old.length; at += 2) {
      const low = old[at + 1] as number;
      if (low !== 0) this.#put(old[at] as number, low);
    }
  }

  #put(high: number, low: number): boolean {
    const place = this.#placeOf(high, low);
    if (this.#slots[place + 1] !== 0) return false;
    this.#slots[place] = high;
    this.#slots[place + 1] = low;
    return true;
  }

  /** Where it is, or would be. */
  #placeOf(high: number, low: number): number {
    const slots = this.#slots;
    const mask = slots.length - 2;
    let place = (high << 1) & mask;
    while (slots[place + 1] !== 0 && (slots[place] !== high || slots[place + 1] !== low)) {
      place = (place + 2) & mask;
    }
    return place;
  }
}
