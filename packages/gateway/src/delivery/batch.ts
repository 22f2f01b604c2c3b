// Messages on their way out: encoded once as WebSocket frames, shared by everybody who gets them.

export class Batch {
  readonly texts: readonly string[];
  #bytes: Buffer | undefined;
  #offsets: number[] = [];

  constructor(texts: readonly string[]) {
    this.texts = texts;
  }

  /** The frames of the messages from `start` up to, not including, `end`. */
  frames(start: number, end: number): Buffer {
    this.#bytes ??= this.#encode();
    const whole = start === 0 && end === this.texts.length;
    return whole ? this.#bytes : this.#bytes.subarray(this.#offsets[start], this.#offsets[end]);
  }

  #encode(): Buffer {
    const sizes = this.texts.map((text) => Buffer.byteLength(text));
    const total = sizes.reduce((sum, size) => sum + headerBytes(size) + size, 0);
    const bytes = Buffer.allocUnsafe(total);
    let offset = 0;
    this.#offsets = [0];
    this.texts.forEach((text, index) => {
      offset = writeHeader(bytes, offset, sizes[index] ?? 0);
      offset += bytes.write(text, offset, "utf8");
      this.#offsets.push(offset);
    });
    return bytes;
  }
}

/** Some messages of a batch. */
export interface Slice {
  batch: Batch;
  start: number;
  end: number;
}

export function wholeOf(batch: Batch): Slice {
  return { batch, start: 0, end: batch.texts.length };
}

/** A single message. */
export function single(text: string): Slice[] {
  return [wholeOf(new Batch([text]))];
}

function headerBytes(size: number): number {
  return size < 126 ? 2 : size < 65_536 ? 4 : 10;
}

/** An unmasked, final text frame's header (RFC 6455, 5.2). */
function writeHeader(bytes: Buffer, offset: number, size: number): number {
  bytes[offset] = 0x81;
  if (size < 126) {
    bytes[offset + 1] = size;
    return offset + 2;
  }
  if (size < 65_536) {
    bytes[offset + 1] = 126;
    return bytes.writeUInt16BE(size, offset + 2);
  }
  bytes[offset + 1] = 127;
  return bytes.writeBigUInt64BE(BigInt(size), offset + 2);
}
