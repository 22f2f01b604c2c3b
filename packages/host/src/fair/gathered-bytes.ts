// Bytes that come in pieces, kept until all are there. A piece costs some hundred bytes of memory however few it
// carries, and whoever sends chooses its size: small ones are copied together, so that what is kept takes about as much
// memory as it is long.

/** Smaller pieces are copied. */
const ownBytesMin = 1_024;
const blockBytes = 4_096;

export class GatheredBytes {
  readonly #pieces: Buffer[] = [];
  #block: Buffer | undefined;
  #used = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(piece: Buffer): void {
    this.#length += piece.length;
    // Most messages come in one piece, however small.
    if (piece.length < ownBytesMin && this.#pieces.length > 0) {
      this.#copy(piece);
      return;
    }
    this.#closeBlock();
    this.#pieces.push(piece);
  }

  whole(): Buffer {
    this.#closeBlock();
    const [only] = this.#pieces;
    if (this.#pieces.length === 1 && only !== undefined) return only;
    return Buffer.concat(this.#pieces, this.#length);
  }

  #copy(piece: Buffer): void {
    if (this.#used + piece.length > blockBytes) this.#closeBlock();
    this.#block ??= Buffer.allocUnsafeSlow(blockBytes);
    piece.copy(this.#block, this.#used);
    this.#used += piece.length;
  }

  /** What was copied becomes a piece of exactly its length; the block is used again. */
  #closeBlock(): void {
    if (this.#block === undefined || this.#used === 0) return;
    this.#pieces.push(Buffer.from(this.#block.subarray(0, this.#used)));
    this.#used = 0;
  }
}
