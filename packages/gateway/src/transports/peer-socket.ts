// A room connection whose other end is at another gateway, the edge: what it is given goes there with what others at that
// edge are given. The edge has the real socket: it pings, sees who reads slowly and cuts them off.
import type { PeerLink } from "@mcpx/host";
import type { Limits } from "@mcpx/protocol";
import type { Slice } from "../delivery/batch.ts";
import { deliverMessage, type Outgoing, ownerKinds, streamMessage } from "./peer-frames.ts";
import type { RoomSocket } from "./socket.ts";

/** Of one message between gateways; a single batch may be larger by itself. */
const messageBytes = 4_194_304;

/** Collects what the members at one edge are given in a turn. */
export class EdgeOutbox {
  readonly #link: PeerLink;
  #outgoing: Outgoing[] = [];
  #batches = new Set<Slice["batch"]>();
  #bytes = 0;

  constructor(link: PeerLink) {
    this.#link = link;
  }

  add(stream: number, slices: readonly Slice[]): void {
    if (this.#outgoing.length === 0) queueMicrotask(() => this.#flush());
    for (const slice of slices) {
      this.#outgoing.push({ stream, slice });
      if (this.#batches.has(slice.batch)) continue;
      this.#batches.add(slice.batch);
      this.#bytes += slice.batch.frames(0, slice.batch.texts.length).length;
      if (this.#bytes > messageBytes) this.#flush();
    }
  }

  /** Behind what was added before. */
  send(kind: number, message: Buffer): void {
    this.#flush();
    this.#link.send(kind, message);
  }

  #flush(): void {
    if (this.#outgoing.length === 0) return;
    this.#link.send(ownerKinds.deliver, deliverMessage(this.#outgoing));
    this.#outgoing = [];
    this.#batches.clear();
    this.#bytes = 0;
  }
}

export class PeerSocket implements RoomSocket {
  /** The edge knows them. */
  readonly queuedBytes = 0;
  readonly queuedEnvelopes = 0;
  readonly #outbox: EdgeOutbox;
  readonly #stream: number;
  readonly #limits: Pick<Limits, "queueBytesMax" | "queueEnvelopesMax">;
  readonly #closed: () => void;
  /** Written since the edge last said that its queue has room. */
  #bytes = 0;
  #envelopes = 0;
  #waiting: (() => void)[] = [];
  #isEnded = false;

  constructor(
    outbox: EdgeOutbox,
    stream: number,
    limits: Pick<Limits, "queueBytesMax" | "queueEnvelopesMax">,
    closed: () => void,
  ) {
    this.#outbox = outbox;
    this.#stream = stream;
    this.#limits = limits;
    this.#closed = closed;
  }

  stalledMs(): number {
    return 0;
  }

  silentMs(): number {
    return 0;
  }

  write(slices: readonly Slice[]): void {
    if (this.#isEnded) return;
    for (const { batch, start, end } of slices) {
      this.#bytes += batch.frames(start, end).length;
      this.#envelopes += end - start;
    }
    this.#outbox.add(this.#stream, slices);
  }

  /** Asks the edge only when a quarter of what it may queue is on its way: between two questions lies a round trip. */
  drained(): Promise<void> {
    const { queueBytesMax, queueEnvelopesMax } = this.#limits;
    const isLittle = this.#bytes <= queueBytesMax / 4 && this.#envelopes <= queueEnvelopesMax / 4;
    if (this.#isEnded || isLittle) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1) this.#say(ownerKinds.askDrained);
    });
  }

  /** The edge's answer. */
  hasDrained(): void {
    this.#bytes = 0;
    this.#envelopes = 0;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  turn(): undefined {
    return undefined;
  }

  ping(): void {}

  pause(): void {
    this.#say(ownerKinds.pause);
  }

  resume(): void {
    this.#say(ownerKinds.resume);
  }

  close(code: number, reason: string): void {
    this.#say(ownerKinds.close, JSON.stringify({ code, reason }));
  }

  destroy(): void {
    this.#say(ownerKinds.destroy);
    this.ended();
  }

  /** The edge's socket has closed, or the connection to the edge has. */
  ended(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.hasDrained();
    this.#closed();
  }

  #say(kind: number, body = ""): void {
    if (!this.#isEnded) this.#outbox.send(kind, streamMessage(this.#stream, body));
  }
}
