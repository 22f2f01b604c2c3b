// Requests to one stub and their answers, over the line there is now: ids, deadlines, repeats, and no more open
// at once than the stub can take. Knows neither profile: a codec does. [AX-B-6]
import type { Line } from "../lines/line.ts";
import { busyStatus } from "../tools/status.ts";
import type { CborValue, DecodedMap } from "../wire/cbor.ts";

type Body = Uint8Array | readonly CborValue[];

export type Answer =
  | { kind: "result"; result: Uint8Array | DecodedMap }
  | { kind: "error"; status: number; text: string | undefined };

export type DeviceOutcome =
  | Answer
  /** Surely not received. */
  | { kind: "unreached" }
  /** Sent, and never answered: it may or may not have happened. */
  | { kind: "unanswered" };

export interface Codec {
  /** How many ids there are before they begin anew. */
  readonly ids: number;
  /** As it goes over the line. */
  request(method: number, id: number, body: Body): Uint8Array;
  /** Ends what the stub may have half read; empty where frames have delimiters. */
  readonly flush: Uint8Array;
  /** What was half heard from the stub belongs to nothing any more; absent where frames have delimiters. */
  forget?(): void;
}

export interface Question {
  method: number;
  body: Body;
  timeoutMs: number;
  /** Whether it may be sent again where it may have been received. */
  isRepeatable: boolean;
  signal?: AbortSignal | undefined;
  /** Whether the stub at the other end is still the one it is for; it is unless given. */
  isMeant?: (() => boolean) | undefined;
}

interface Open {
  method: number;
  settle(outcome: DeviceOutcome): void;
}

const attemptsMax = 3;
const busyMs = 50;
const waitingMax = 64;

export class Conversation {
  readonly #codec: Codec;
  readonly #open = new Map<number, Open>();
  readonly #waiting: (() => void)[] = [];
  #line: Line | undefined;
  #nextId = 0;
  #active = 0;
  /** The stub may be in the middle of a frame. */
  #isUnsure = true;
  /** Answers to nothing that is open, and those of another tool. */
  strays = 0;
  callsMax = 1;

  constructor(codec: Codec) {
    this.#codec = codec;
  }

  /** From now on; what was open over an earlier one is not answered any more. */
  use(line: Line | undefined): void {
    this.#line = line;
    this.interrupt();
    this.#isUnsure = true;
  }

  /** The stub has begun anew: what was open will not be answered. */
  interrupt(): void {
    for (const { settle } of [...this.#open.values()]) settle({ kind: "unanswered" });
  }

  /** `method` is absent where the profile's answers do not repeat it. */
  hear(id: number, method: number | undefined, answer: Answer): void {
    const open = this.#open.get(id);
    if (open === undefined || (method !== undefined && method !== open.method)) this.strays += 1;
    else open.settle(answer);
  }

  async ask(question: Question): Promise<DeviceOutcome> {
    if (this.#active >= this.callsMax && !(await this.#turn())) return { kind: "unreached" };
    this.#active += 1;
    try {
      return await this.#attempts(question);
    } finally {
      this.#active -= 1;
      this.#waiting.shift()?.();
    }
  }

  async #turn(): Promise<boolean> {
    if (this.#waiting.length >= waitingMax) return false;
    while (this.#active >= this.callsMax) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    return true;
  }

  /** Repeats carry the id of the first. */
  async #attempts(question: Question): Promise<DeviceOutcome> {
    const id = this.#freeId();
    let outcome = { kind: "unreached" } as DeviceOutcome;
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      if (outcome.kind === "error") await pause(busyMs);
      if (question.signal?.aborted || question.isMeant?.() === false) return outcome;
      const next = await this.#attempt(id, question);
      // Once it may have been received, that it was not reached again says nothing.
      outcome = next.kind === "unreached" && outcome.kind === "unanswered" ? outcome : next;
      const isBusy = outcome.kind === "error" && outcome.status === busyStatus;
      if (!isBusy && !(outcome.kind === "unanswered" && question.isRepeatable)) return outcome;
    }
    return outcome;
  }

  #attempt(id: number, { method, body, timeoutMs, signal }: Question): Promise<DeviceOutcome> {
    const { promise, resolve } = Promise.withResolvers<DeviceOutcome>();
    const request = this.#codec.request(method, id, body);
    const settle = (outcome: DeviceOutcome) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", giveUp);
      this.#open.delete(id);
      resolve(outcome);
    };
    const giveUp = () => {
      this.#isUnsure = true;
      settle({ kind: "unanswered" });
    };
    const timer = setTimeout(giveUp, timeoutMs);
    const open = { method, settle };
    this.#open.set(id, open);
    signal?.addEventListener("abort", giveUp, { once: true });
    const isAwaited = () => this.#open.get(id) === open;
    if (!this.#write(request, isAwaited)) settle({ kind: "unreached" });
    return promise;
  }

  #write(request: Uint8Array, isAwaited: () => boolean): boolean {
    const bytes = this.#isUnsure ? Buffer.concat([this.#codec.flush, request]) : request;
    if (this.#isUnsure) this.#codec.forget?.();
    this.#isUnsure = false;
    return this.#line?.write(bytes, isAwaited) ?? false;
  }

  #freeId(): number {
    do this.#nextId = (this.#nextId + 1) % this.#codec.ids;
    while (this.#open.has(this.#nextId));
    return this.#nextId;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
