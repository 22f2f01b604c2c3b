// A client that counts text frames and does not look into them, so that what is measured is the server.
import { randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";

export class FrameCounter {
  /** Called with the number of frames so far, for each frame. */
  onFrame: (count: number) => void = () => {};
  count = 0;
  readonly socket: Socket;
  #rest = Buffer.alloc(0);
  /** Bytes of the current frame still to come. */
  #skip = 0;
  #isText = false;

  private constructor(socket: Socket) {
    this.socket = socket;
  }

  static async connect(url: string, topic: string, token: string | undefined): Promise<FrameCounter> {
    const { hostname, port, host } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.setNoDelay(true);
    const lines = [
      `GET /v0/ws?topic=${topic} HTTP/1.1`,
      `Host: ${host}`,
      "Upgrade: websocket",
      "Connection: Upgrade",
      `Sec-WebSocket-Key: ${randomBytes(16).toString("base64")}`,
      "Sec-WebSocket-Version: 13",
      ...(token === undefined ? [] : [`Authorization: Bearer ${token}`]),
    ];
    socket.write(`${lines.join("\r\n")}\r\n\r\n`);
    const counter = new FrameCounter(socket);
    await counter.#handshake();
    return counter;
  }

  /** Sends a masked text frame. */
  send(text: string): void {
    const body = Buffer.from(text);
    const head =
      body.length < 126
        ? Buffer.from([0x81, 0x80 | body.length])
        : Buffer.from([0x81, 0xfe, body.length >> 8, body.length & 255]);
    // A mask of zeroes leaves the body as it is.
    this.socket.write(Buffer.concat([head, Buffer.alloc(4), body]));
  }

  #handshake(): Promise<void> {
    return new Promise((resolve, reject) => {
      let seen = Buffer.alloc(0);
      const read = (chunk: Buffer) => {
        seen = Buffer.concat([seen, chunk]);
        const end = seen.indexOf("\r\n\r\n");
        if (end === -1) return;
        if (!seen.toString("latin1", 0, 12).endsWith("101")) return reject(new Error(seen.toString("utf8")));
        this.socket.off("data", read);
        this.socket.on("data", (data: Buffer) => this.#frames(data));
        this.#frames(seen.subarray(end + 4));
        resolve();
      };
      this.socket.on("data", read);
      this.socket.once("error", reject);
    });
  }

  #frames(chunk: Buffer): void {
    const data = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    if (this.#skip > 0) {
      at = Math.min(this.#skip, data.length);
      this.#skip -= at;
      if (this.#skip > 0) return;
      this.#counted();
    }
    while (data.length - at >= 2) {
      this.#isText = data[at] === 0x81;
      // An empty pong with a mask of zeroes: who answers no ping is taken for dead after 45 s.
      if (data[at] === 0x89) this.socket.write(Buffer.from([0x8a, 0x80, 0, 0, 0, 0]));
      const short = (data[at + 1] as number) & 0x7f;
      const head = short < 126 ? 2 : short === 126 ? 4 : 10;
      if (data.length - at < head) break;
      const size =
        short < 126
          ? short
          : short === 126
            ? data.readUInt16BE(at + 2)
            : Number(data.readBigUInt64BE(at + 2));
      at += head;
      const there = Math.min(size, data.length - at);
      at += there;
      this.#skip = size - there;
      if (this.#skip > 0) break;
      this.#counted();
    }
    this.#rest = this.#skip > 0 ? Buffer.alloc(0) : Buffer.from(data.subarray(at));
  }

  #counted(): void {
    if (!this.#isText) return;
    this.count += 1;
    this.onFrame(this.count);
  }
}
