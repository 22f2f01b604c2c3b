// The transport that the SDK server is connected to while we are registered. What comes before the server is ready
// waits; what comes after the end is never served. [AX-13.3-3]
import type { JsonObject } from "@mcpx/protocol";
import { asError } from "../core/room-error.ts";

const waitingMax = 1_024;

export class ServedChannel {
  // biome-ignore lint/suspicious/noExplicitAny: the SDKs' message types are theirs
  onmessage?: ((message: any, extra?: any) => void) | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  sessionId?: string | undefined;
  readonly #send: (message: JsonObject) => Promise<void>;
  readonly #onClosed: () => void;
  #waiting: JsonObject[] | undefined = [];
  #isClosed = false;

  /** `onClosed` runs once, whichever side closes the channel. */
  constructor(send: (message: JsonObject) => Promise<void>, onClosed: () => void) {
    this.#send = send;
    this.#onClosed = onClosed;
  }

  /** SDKs call this when they are ready to be told. */
  async start(): Promise<void> {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const message of waiting) this.deliver(message);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#waiting = undefined;
    this.#onClosed();
    this.onclose?.();
  }

  /** Rejects after the end: what was asked is somebody else's by now. */
  send(message: JsonObject): Promise<void> {
    return this.#send(message);
  }

  /** False where more waits than is kept. */
  deliver(message: JsonObject): boolean {
    if (this.#isClosed) return true;
    if (this.#waiting !== undefined) return this.#waiting.push(message) <= waitingMax;
    try {
      this.onmessage?.(message);
    } catch (error) {
      this.onerror?.(asError(error));
    }
    return true;
  }
}
