// What one server says unasked: so many a second, in the order it was said. What is too much waits; when too many wait,
// the oldest are dropped and counted. Pure: the time is given. [AX-12-1] [AX-12-2] [AX-12-6]

export interface FlowLimits {
  /** How many go in any second; at least 1. */
  ratePerSecond: number;
  /** How many may wait. */
  waitingMax: number;
  /** Of memory, of all that wait. */
  waitingBytesMax: number;
  /** Of memory, of one; a larger one is dropped. */
  bytesMax: number;
}

export const defaultFlowLimits: FlowLimits = {
  ratePerSecond: 100,
  waitingMax: 1_000,
  waitingBytesMax: 4 * 1_048_576,
  bytesMax: 1_048_576,
};

const secondMs = 1_000;

/** Always: sent = delivered + dropped + waiting. */
export class NotificationFlow<T> {
  #limits: FlowLimits;
  readonly #waiting: { one: T; bytes: number }[] = [];
  /** When the last ones went, in a ring of as many as may go in a second. */
  #wentAt: number[] = [];
  #oldest = 0;
  #waitingBytes = 0;
  #sent = 0;
  #delivered = 0;
  #dropped = 0;

  constructor(limits: FlowLimits) {
    this.#limits = limits;
  }

  /** From now on. What waits goes on waiting, and what went before counts. */
  set limits(limits: FlowLimits) {
    if (limits.ratePerSecond !== this.#limits.ratePerSecond) {
      const inOrder = [...this.#wentAt.slice(this.#oldest), ...this.#wentAt.slice(0, this.#oldest)];
      this.#wentAt = inOrder.slice(-limits.ratePerSecond);
      this.#oldest = 0;
    }
    this.#limits = limits;
    this.#dropTooMany();
  }

  get sent(): number {
    return this.#sent;
  }

  get delivered(): number {
    return this.#delivered;
  }

  get dropped(): number {
    return this.#dropped;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** True where it goes at once. Else it waits, and the oldest that is too much is dropped, which may be itself. */
  offer(one: T, bytes: number, now: number): boolean {
    if (bytes > this.#limits.bytesMax) {
      this.refuse();
      return false;
    }
    this.#sent += 1;
    if (this.#waiting.length === 0 && this.#openInMs(now) === 0) {
      this.#went(now);
      return true;
    }
    this.#waiting.push({ one, bytes });
    this.#waitingBytes += bytes;
    this.#dropTooMany();
    return false;
  }

  /** What cannot be passed on at all. */
  refuse(): void {
    this.#sent += 1;
    this.#dropped += 1;
  }

  /** The next that waited and may go now. */
  take(now: number): T | undefined {
    if (this.#waiting.length === 0 || this.#openInMs(now) > 0) return undefined;
    this.#went(now);
    return this.#shift();
  }

  /** Until one that waits may go; `undefined` where none does. */
  waitMs(now: number): number | undefined {
    return this.#waiting.length === 0 ? undefined : this.#openInMs(now);
  }

  /** Nothing waits, and a new flow would do the same. */
  isIdle(now: number): boolean {
    const last = this.#wentAt.at(this.#oldest - 1);
    return this.#waiting.length === 0 && (last === undefined || now - last >= secondMs);
  }

  #openInMs(now: number): number {
    const oldest = this.#wentAt[this.#oldest];
    if (oldest === undefined || this.#wentAt.length < this.#limits.ratePerSecond) return 0;
    return Math.max(0, oldest + secondMs - now);
  }

  #went(now: number): void {
    this.#delivered += 1;
    const isFull = this.#wentAt.length >= this.#limits.ratePerSecond;
    if (!isFull) this.#wentAt.push(now);
    else {
      this.#wentAt[this.#oldest] = now;
      this.#oldest = (this.#oldest + 1) % this.#wentAt.length;
    }
  }

  #dropTooMany(): void {
    const { waitingMax, waitingBytesMax } = this.#limits;
    while (this.#waiting.length > waitingMax || this.#waitingBytes > waitingBytesMax) {
      this.#shift();
      this.#dropped += 1;
    }
  }

  #shift(): T | undefined {
    const first = this.#waiting.shift();
    this.#waitingBytes -= first?.bytes ?? 0;
    return first?.one;
  }
}
