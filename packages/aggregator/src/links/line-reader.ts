// Lines out of bytes that others write, each up to a bound. However the bytes are cut, each is looked at once and
// copied at most twice, and no more than the bound is kept.
import { isUtf8 } from "node:buffer";

export interface LineTaker {
  line(text: string): void;
  /** A line is past the bound: told when it is noticed. Without this, it is cut. */
  long?(): void;
  /** A line past the bound is over; its first and last characters. */
  longOver?(head: string, tail: string): void;
  /** A line is not UTF-8. Without this, what cannot be read is replaced. */
  unreadable?(): void;
}

const lf = 10;
const cr = 13;
/** Of a line past the bound, at each end. */
const glimpseBytes = 512;
const none = Buffer.alloc(0);

export class LineReader {
  readonly #bytesMax: number;
  readonly #taker: LineTaker;
  /** Event streams may end lines so. */
  readonly #breaksAtCr: boolean;
  #kept: Buffer = none;
  #keptBytes = 0;
  #isLong = false;
  #tail: Buffer = none;
  #isAfterCr = false;

  constructor(bytesMax: number, taker: LineTaker, breaksAtCr = false) {
    this.#bytesMax = bytesMax;
    this.#taker = taker;
    this.#breaksAtCr = breaksAtCr;
  }

  push(chunk: Buffer): void {
    let at = 0;
    if (this.#isAfterCr && chunk.length > 0) {
      this.#isAfterCr = false;
      if (chunk[0] === lf) at = 1;
    }
    let nextCr = this.#breaksAtCr ? chunk.indexOf(cr, at) : -1;
    while (at < chunk.length) {
      if (nextCr !== -1 && nextCr < at) nextCr = chunk.indexOf(cr, at);
      const nextLf = chunk.indexOf(lf, at);
      const isCr = nextCr !== -1 && (nextLf === -1 || nextCr < nextLf);
      const end = isCr ? nextCr : nextLf;
      if (end === -1) {
        this.#keep(chunk.subarray(at));
        return;
      }
      this.#finish(chunk, at, end);
      at = end + 1;
      if (!isCr) continue;
      if (at === chunk.length) this.#isAfterCr = true;
      else if (chunk[at] === lf) at += 1;
    }
  }

  /** What is left is a line too. */
  end(): void {
    if (this.#keptBytes > 0 || this.#isLong) this.#finish(none, 0, 0);
  }

  #finish(chunk: Buffer, from: number, to: number): void {
    if (this.#keptBytes === 0 && !this.#isLong && to - from <= this.#bytesMax) {
      this.#tell(chunk, from, to);
      return;
    }
    this.#keep(chunk.subarray(from, to));
    const kept = this.#kept;
    const bytes = this.#keptBytes;
    const isDropped = this.#isLong && this.#taker.long !== undefined;
    const tail = this.#tail;
    this.#keptBytes = 0;
    this.#isLong = false;
    this.#tail = none;
    if (kept.length > 65_536) this.#kept = none;
    if (!isDropped) this.#tell(kept, 0, bytes);
    else
      this.#taker.longOver?.(kept.toString("utf8", 0, Math.min(bytes, glimpseBytes)), tail.toString("utf8"));
  }

  #tell(bytes: Buffer, from: number, to: number): void {
    if (this.#taker.unreadable !== undefined && !isUtf8(bytes.subarray(from, to))) this.#taker.unreadable();
    else this.#taker.line(bytes.toString("utf8", from, to > from && bytes[to - 1] === cr ? to - 1 : to));
  }

  #keep(piece: Buffer): void {
    if (this.#isLong) {
      this.#glimpse(piece);
      return;
    }
    const room = this.#bytesMax - this.#keptBytes;
    const fitting = piece.length <= room ? piece : piece.subarray(0, room);
    this.#append(fitting);
    if (fitting.length === piece.length) return;
    this.#isLong = true;
    this.#taker.long?.();
    if (this.#taker.long === undefined) return;
    this.#glimpse(this.#kept.subarray(0, this.#keptBytes));
    this.#glimpse(piece.subarray(room));
    // A copy: the large one is not needed any more.
    this.#keptBytes = Math.min(this.#keptBytes, glimpseBytes);
    this.#kept = Buffer.from(this.#kept.subarray(0, this.#keptBytes));
  }

  #append(piece: Buffer): void {
    const bytes = this.#keptBytes + piece.length;
    if (bytes > this.#kept.length) {
      const grown = Buffer.allocUnsafe(Math.max(1_024, Math.min(bytes * 2, this.#bytesMax)));
      this.#kept.copy(grown, 0, 0, this.#keptBytes);
      this.#kept = grown;
    }
    piece.copy(this.#kept, this.#keptBytes);
    this.#keptBytes = bytes;
  }

  #glimpse(piece: Buffer): void {
    if (this.#taker.longOver === undefined) return;
    const last = piece.subarray(-glimpseBytes);
    this.#tail = Buffer.concat([this.#tail, last]).subarray(-glimpseBytes);
  }
}
