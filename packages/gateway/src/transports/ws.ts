// A room connection over a real WebSocket: handshake, frames in, frames out, ping, close.
import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Share } from "@mcpx/host";
import { closeCodes, isMcpxError, type Limits, McpxError } from "@mcpx/protocol";
import type { Slice } from "../delivery/batch.ts";
import { createFrameReader, type FrameReader } from "./frame-reader.ts";
import type { RoomSocket, SocketEvents } from "./socket.ts";

/** How long a closing handshake may take. */
const closeTimeoutMs = 3_000;

/** Checks that a request asks for a WebSocket, before anything is decided about it. */
export function checkUpgrade(request: IncomingMessage): void {
  const { headers, method, httpVersion } = request;
  const key = headers["sec-websocket-key"];
  const isKey = typeof key === "string" && /^[+/0-9A-Za-z]{22}==$/.test(key);
  if (method !== "GET" || headers.upgrade?.toLowerCase() !== "websocket" || !isKey) {
    throw new McpxError("bad_request", "this address accepts WebSocket handshakes only");
  }
  if (httpVersion !== "1.1") throw new McpxError("bad_request", "a WebSocket begins with HTTP/1.1");
  // Nobody would read it as a body: where we see frames, a proxy before us saw something else.
  if ((headers["content-length"] ?? "0") !== "0" || headers["transfer-encoding"] !== undefined) {
    throw new McpxError("bad_request", "a WebSocket handshake has no body");
  }
}

/** Answers the handshake. `subprotocol` is echoed where the client offered it. */
export function acceptUpgrade(
  request: IncomingMessage,
  duplex: Duplex,
  subprotocol: string | undefined,
): void {
  const accept = createHash("sha1")
    .update(`${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest("base64");
  const lines = [
    "HTTP/1.1 101 Switching Protocols",
    "Upgrade: websocket",
    "Connection: Upgrade",
    `Sec-WebSocket-Accept: ${accept}`,
  ];
  if (subprotocol !== undefined) lines.push(`Sec-WebSocket-Protocol: ${subprotocol}`);
  duplex.write(`${lines.join("\r\n")}\r\n\r\n`);
}

export class WsSocket implements RoomSocket {
  queuedEnvelopes = 0;
  readonly turn: RoomSocket["turn"];
  readonly #duplex: Duplex;
  readonly #reader: FrameReader;
  readonly #limits: Limits;
  readonly #monotonic: () => number;
  readonly #events: SocketEvents;
  #progressAt: number;
  #heardAt: number;
  #isClosing = false;
  #isEnded = false;
  #lastPing: Buffer | undefined;
  #closeTimer: NodeJS.Timeout | undefined;
  #waiting: (() => void)[] = [];

  constructor(duplex: Duplex, limits: Limits, monotonic: () => number, events: SocketEvents, share: Share) {
    this.turn = share.turn;
    share.onRefused((error) => this.#refused(error));
    this.#duplex = duplex;
    this.#limits = limits;
    this.#monotonic = monotonic;
    this.#events = events;
    this.#progressAt = monotonic();
    this.#heardAt = monotonic();
    this.#reader = createFrameReader(limits.envelopeBytesMax * 2, limits.envelopeFragmentsMax);
    this.#listen();
  }

  /** Begins to read; `head` came together with the handshake. */
  start(head: Buffer): void {
    this.#duplex.on("data", (chunk: Buffer) => this.#read(chunk));
    if (head.length > 0) this.#read(head);
  }

  get queuedBytes(): number {
    return this.#duplex.writableLength;
  }

  stalledMs(): number {
    return this.queuedBytes === 0 ? 0 : this.#monotonic() - this.#progressAt;
  }

  silentMs(): number {
    return this.#monotonic() - this.#heardAt;
  }

  write(slices: readonly Slice[]): void {
    if (this.#isClosing || slices.length === 0) return;
    if (this.queuedBytes === 0) this.#progressAt = this.#monotonic();
    if (slices.length > 1) this.#duplex.cork();
    for (const { batch, start, end } of slices) this.#send(batch.frames(start, end), end - start);
    if (slices.length > 1) this.#duplex.uncork();
  }

  /** Frames that were made elsewhere. */
  writeFrames(frames: Buffer, envelopes: number): void {
    if (this.#isClosing) return;
    if (this.queuedBytes === 0) this.#progressAt = this.#monotonic();
    this.#send(frames, envelopes);
  }

  #send(frames: Buffer, envelopes: number): void {
    this.queuedEnvelopes += envelopes;
    this.#duplex.write(frames, () => this.#written(envelopes));
  }

  drained(): Promise<void> {
    if (this.#isEnded || this.#hasSpace()) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  ping(): void {
    if (!this.#isClosing) this.#duplex.write(controlFrame(0x89, Buffer.alloc(0)));
  }

  pause(): void {
    this.#duplex.pause();
  }

  resume(): void {
    this.#duplex.resume();
  }

  close(code: number, reason: string): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    // A close reason has room for 123 bytes.
    const text = Buffer.from(reason).subarray(0, 120);
    const body = Buffer.alloc(2 + text.length);
    body.writeUInt16BE(code, 0);
    text.copy(body, 2);
    this.#duplex.end(controlFrame(0x88, body));
    // Of what the other side still sends only its close frame counts.
    this.#duplex.resume();
    this.#closeTimer = setTimeout(() => this.destroy(), closeTimeoutMs).unref();
  }

  /** Both sides have closed: the server ends the connection, and waits for nothing (RFC 6455, 7.1.1). */
  #finish(): void {
    if (this.#duplex.writableFinished) this.destroy();
    else this.#duplex.once("finish", () => this.destroy());
  }

  destroy(): void {
    this.#duplex.destroy();
  }

  #listen(): void {
    this.#duplex.on("end", () => this.#duplex.end());
    this.#duplex.on("error", () => this.#duplex.destroy());
    this.#duplex.on("close", () => this.#ended());
    this.#reader.on("message", (data, isBinary) => this.#message(data, isBinary));
    this.#reader.on("ping", (data) => {
      this.#lastPing = data;
    });
    // RFC 6455, 5.5.1 and 8.1: a reason is UTF-8, and a close frame that is none fails the connection.
    this.#reader.on("conclude", (_code, reason) => {
      if (isUtf8(reason)) this.close(closeCodes.normal, "");
      else this.close(closeCodes.badText, "bad_utf8");
      this.#finish();
    });
    this.#reader.on("error", (error) => this.#broken(error));
  }

  #read(chunk: Buffer): void {
    this.#heardAt = this.#monotonic();
    if (this.#reader.destroyed || this.#reader.writableEnded) return;
    this.#reader.write(chunk);
    if (this.#lastPing !== undefined) this.#pong(this.#lastPing);
  }

  /** Only the last of several pings needs a pong (RFC 6455, 5.5.3), and none that would fill the memory. */
  #pong(data: Buffer): void {
    this.#lastPing = undefined;
    if (this.#isClosing || this.queuedBytes > this.#limits.queueBytesMax) return;
    this.#duplex.write(controlFrame(0x8a, data));
  }

  #message(data: Buffer, isBinary: boolean): void {
    if (this.#isClosing) return;
    const { envelopeBytesMax } = this.#limits;
    if (isBinary) this.#events.fault(new McpxError("not_text", "a binary frame holds no envelope"), false);
    else if (data.length > envelopeBytesMax) {
      this.#events.fault(
        new McpxError("too_large", `${data.length} bytes; the limit is ${envelopeBytesMax}`),
        false,
      );
    } else if (!isUtf8(data))
      this.#events.fault(new McpxError("bad_utf8", "the frame is not valid UTF-8"), false);
    else this.#events.text(data.toString("utf8"));
  }

  /** What it has begun and not finished is more than it may have here. */
  #refused(error: unknown): void {
    if (this.#isClosing) return;
    this.#reader.destroy();
    const fault = isMcpxError(error) ? error : new McpxError("internal");
    this.#events.fault(fault, true);
    this.close(closeCodes.abuse, fault.code);
  }

  /** The frame grammar was broken: nothing after this can be trusted. */
  #broken(error: Error & { code?: string }): void {
    if (this.#isClosing) return;
    const isSize = error.code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH";
    const { envelopeBytesMax, envelopeFragmentsMax } = this.#limits;
    const fault = isSize
      ? new McpxError("too_large", `the frame announces more than ${envelopeBytesMax} bytes`)
      : error.code === "WS_ERR_TOO_MANY_BUFFERED_PARTS"
        ? new McpxError(
            "too_large",
            `it comes in too many pieces; the limit is ${envelopeFragmentsMax} frames`,
          )
        : new McpxError("bad_frame", error.message.replace("Invalid WebSocket frame: ", ""));
    this.#events.fault(fault, true);
    this.close(closeCodes.badFrame, fault.code);
  }

  #written(envelopes: number): void {
    this.queuedEnvelopes -= envelopes;
    this.#progressAt = this.#monotonic();
    if (this.#waiting.length > 0 && this.#hasSpace()) this.#release();
  }

  #hasSpace(): boolean {
    const { queueBytesMax, queueEnvelopesMax } = this.#limits;
    return this.queuedBytes <= queueBytesMax / 2 && this.queuedEnvelopes <= queueEnvelopesMax / 2;
  }

  #release(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  #ended(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#isClosing = true;
    clearTimeout(this.#closeTimer);
    this.#reader.destroy();
    this.#release();
    this.#events.closed();
  }
}

function controlFrame(opcode: number, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from([opcode, body.length]), body]);
}
