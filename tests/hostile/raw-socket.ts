// A TCP connection that says whatever it likes, byte by byte, and reads what comes back: HTTP first, frames after 101.
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { Seen } from "../support/test-client.ts";

export interface RawAnswer {
  status: number;
  /** The lines before the body, lower case. */
  head: string;
  body: Seen;
}

const waitMs = 10_000;

export class RawSocket {
  /** Envelopes that came in text frames. */
  readonly messages: Seen[] = [];
  /** Bodies of the pongs that came. */
  readonly pongs: Buffer[] = [];
  /** The participant's id, once there is one. */
  id = "";
  closed: { code: number; reason: string } | undefined;
  /** The other side has ended the connection. */
  isEnded = false;
  readonly socket: Socket;
  #bytes = Buffer.alloc(0);
  #isUpgraded = false;
  #wake: (() => void)[] = [];

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on("data", (chunk: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, chunk]);
      if (this.#isUpgraded) this.#readFrames();
      this.#notify();
    });
    socket.on("error", () => this.#end());
    socket.on("end", () => this.#end());
    socket.on("close", () => this.#end());
  }

  static async connect(url: string): Promise<RawSocket> {
    const { port, hostname } = new URL(url);
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
    await once(socket, "connect");
    return new RawSocket(socket);
  }

  write(bytes: string | Uint8Array): void {
    if (this.socket.writable) this.socket.write(bytes);
  }

  /** The next HTTP answer; one to HEAD only announces its body. */
  async answer(isHead = false): Promise<RawAnswer> {
    await this.until(() => this.#bytes.includes("\r\n\r\n"), "an HTTP answer");
    const end = this.#bytes.indexOf("\r\n\r\n") + 4;
    const head = this.#bytes.subarray(0, end).toString("latin1").toLowerCase();
    const chunked = head.includes("transfer-encoding: chunked") ? "0\r\n\r\n".length : 0;
    const length = isHead ? 0 : Number(/content-length: (\d+)/.exec(head)?.[1] ?? chunked);
    await this.until(() => this.#bytes.length >= end + length, "the body");
    const text = this.#bytes.subarray(end, end + length).toString();
    this.#bytes = this.#bytes.subarray(end + length);
    const status = Number(head.split(" ", 2)[1]);
    if (status === 101) {
      this.#isUpgraded = true;
      this.#readFrames();
    }
    return { status, head, body: text.startsWith("{") ? JSON.parse(text) : text };
  }

  /** Bytes that came and belong to no answer taken so far. */
  get rest(): string {
    return this.#bytes.toString("latin1");
  }

  async closing(): Promise<{ code: number; reason: string }> {
    await this.until(() => this.closed !== undefined || this.isEnded, "a close frame", true);
    // Without a close frame the peer sees what browsers call 1006.
    return this.closed ?? { code: 1006, reason: "" };
  }

  async ended(): Promise<void> {
    await this.until(() => this.isEnded, "the end", true);
  }

  /** The next message that fits. */
  async find(fits: (message: Seen) => boolean): Promise<Seen> {
    await this.until(() => this.messages.some(fits), "a message");
    return this.messages.splice(0, this.messages.findIndex(fits) + 1).at(-1);
  }

  async until(isThere: () => boolean, what: string, mayBeEnded = false): Promise<void> {
    const deadline = AbortSignal.timeout(waitMs);
    while (!isThere()) {
      if (deadline.aborted) throw new Error(`waited in vain for ${what}`);
      if (this.isEnded && !mayBeEnded) throw new Error(`the connection ended before ${what} came`);
      await new Promise<void>((resolve) => {
        this.#wake.push(resolve);
        deadline.addEventListener("abort", () => resolve(), { once: true });
      });
    }
  }

  destroy(): void {
    this.socket.destroy();
  }

  /** Frames of a server are unmasked and ours are never fragmented. */
  #readFrames(): void {
    for (;;) {
      const [first, second] = this.#bytes;
      if (first === undefined || second === undefined) return;
      const wide = second === 127 ? 8 : second === 126 ? 2 : 0;
      if (this.#bytes.length < 2 + wide) return;
      const length =
        wide === 8
          ? Number(this.#bytes.readBigUInt64BE(2))
          : wide === 2
            ? this.#bytes.readUInt16BE(2)
            : second;
      const start = 2 + wide;
      if (this.#bytes.length < start + length) return;
      this.#take(first & 0x0f, this.#bytes.subarray(start, start + length));
      this.#bytes = this.#bytes.subarray(start + length);
    }
  }

  #take(opcode: number, body: Buffer): void {
    if (opcode === 1) this.messages.push(JSON.parse(body.toString()));
    if (opcode === 8) this.closed ??= { code: body.readUInt16BE(0), reason: body.subarray(2).toString() };
    if (opcode === 10) this.pongs.push(Buffer.from(body));
  }

  #end(): void {
    this.isEnded = true;
    this.#notify();
  }

  #notify(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }
}

export interface FrameOptions {
  fin?: boolean;
  /** Bits of RSV1 (4), RSV2 (2), RSV3 (1). */
  rsv?: number;
  isMasked?: boolean;
  /** The length the header announces, where it is not that of the payload. */
  announced?: bigint;
  /** How the length is written: in 7, 16 or 64 bits; the shortest unless given. */
  lengthBits?: 7 | 16 | 64;
}

const mask = Buffer.from([0x12, 0x34, 0x56, 0x78]);

/** One frame of a client, or of something that is none. */
export function frame(opcode: number, payload: string | Uint8Array = "", options: FrameOptions = {}): Buffer {
  const { fin = true, rsv = 0, isMasked = true } = options;
  const body = Buffer.from(payload);
  const length = options.announced ?? BigInt(body.length);
  const bits = options.lengthBits ?? (length < 126n ? 7 : length < 65_536n ? 16 : 64);
  const head = Buffer.alloc(bits === 64 ? 10 : bits === 16 ? 4 : 2);
  head[0] = (fin ? 0x80 : 0) | (rsv << 4) | opcode;
  head[1] = (isMasked ? 0x80 : 0) | (bits === 64 ? 127 : bits === 16 ? 126 : Number(length));
  if (bits === 16) head.writeUInt16BE(Number(length), 2);
  if (bits === 64) head.writeBigUInt64BE(length, 2);
  if (!isMasked) return Buffer.concat([head, body]);
  return Buffer.concat([head, mask, body.map((byte, i) => byte ^ (mask[i % 4] ?? 0))]);
}

export const text = (payload: string | Uint8Array, options?: FrameOptions) => frame(1, payload, options);
export const binary = (payload: string | Uint8Array, options?: FrameOptions) => frame(2, payload, options);
export const more = (payload: string | Uint8Array, options?: FrameOptions) => frame(0, payload, options);
export const ping = (payload: string | Uint8Array = "", options?: FrameOptions) => frame(9, payload, options);

/** A close frame with a code, also one nobody may use. */
export function closeFrame(code: number, reason: string | Uint8Array = ""): Buffer {
  const body = Buffer.from(reason);
  const head = Buffer.alloc(2);
  head.writeUInt16BE(code);
  return frame(8, Buffer.concat([head, body]));
}
