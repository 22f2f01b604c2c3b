// The memory that a WebSocket message takes before it is whole: its bytes, the pieces they came in, and its frames, each
// of which costs a reader more than 100 bytes however few it carries. Of a frame only its end is looked for (RFC 6455,
// 5.2); whether it is right is for its reader to say. Pure.

/** What a piece takes beside its bytes: some come byte by byte. */
const bytesPerPiece = 160;
const bytesPerFrame = 160;
const headerBytesMax = 14;

export class UnfinishedMessage {
  /** None between two messages, whatever control frames come there. */
  bytes = 0;
  readonly #header = new Uint8Array(headerBytesMax);
  #headerLength = 0;
  #payloadLeft = 0;
  /** It has frames, and not its last. */
  #isBegun = false;

  take(piece: Buffer): void {
    this.bytes += piece.length + bytesPerPiece;
    let at = 0;
    while (at < piece.length) {
      at = this.#payloadLeft > 0 ? this.#takePayload(piece, at) : this.#takeHeader(piece, at);
    }
  }

  #takePayload(piece: Buffer, at: number): number {
    const length = Math.min(this.#payloadLeft, piece.length - at);
    this.#payloadLeft -= length;
    if (this.#payloadLeft === 0) this.#frameEnded(piece.length - at - length);
    return at + length;
  }

  #takeHeader(piece: Buffer, at: number): number {
    const header = this.#header;
    header[this.#headerLength] = piece[at] as number;
    this.#headerLength += 1;
    if (this.#headerLength >= 2 && this.#headerLength === headerLengthOf(header)) {
      this.#headerLength = 0;
      this.#payloadLeft = payloadLengthOf(header);
      if (this.#payloadLeft === 0) this.#frameEnded(piece.length - at - 1);
    }
    return at + 1;
  }

  /** `behind` it are so many bytes of its piece. */
  #frameEnded(behind: number): void {
    const first = this.#header[0] as number;
    const isControl = (first & 0x08) !== 0;
    if (!isControl) this.#isBegun = (first & 0x80) === 0;
    if (!this.#isBegun) this.bytes = behind === 0 ? 0 : behind + bytesPerPiece;
    else if (!isControl) this.bytes += bytesPerFrame;
  }
}

function headerLengthOf(header: Uint8Array): number {
  const second = header[1] as number;
  const short = second & 0x7f;
  return 2 + (short === 126 ? 2 : short === 127 ? 8 : 0) + ((second & 0x80) === 0 ? 0 : 4);
}

function payloadLengthOf(header: Uint8Array): number {
  const short = (header[1] as number) & 0x7f;
  if (short < 126) return short;
  return header.subarray(2, short === 126 ? 4 : 10).reduce((length, byte) => length * 256 + byte, 0);
}
