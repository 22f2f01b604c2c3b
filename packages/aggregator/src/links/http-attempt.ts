// One request on its way: sent once, or given up. To the HTTP library its handler, to the caller the answer; one
// object, since there is one for each call.
import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";

/** An answer whose head has come. */
export interface HttpAnswer {
  readonly headers: IncomingHttpHeaders;
  /** To be called at once: what nobody reads is lost. */
  read(reader: BodyReader): void;
  /** Ends its connection; the reader is told. */
  destroy(): void;
}

export interface BodyReader {
  data(chunk: Buffer): void;
  /** Nothing follows. Not whole where the connection broke or was ended. */
  over(isWhole: boolean): void;
}

export interface AttemptTaker {
  answered(answer: HttpAnswer, status: number): void;
  /** There is no answer. `isSent`: but the server may have the request. */
  failed(error: unknown, isSent: boolean): void;
}

const once = { once: true } as const;
const stopped = new Error("stopped");

export class HttpAttempt implements Dispatcher.DispatchHandler, HttpAnswer {
  headers: IncomingHttpHeaders = {};
  readonly #taker: AttemptTaker;
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort = () => this.destroy();
  #controller: Dispatcher.DispatchController | undefined;
  #reader: BodyReader | undefined;
  #isAnswered = false;
  #isOver = false;

  constructor(taker: AttemptTaker, signal: AbortSignal | undefined) {
    this.#taker = taker;
    this.#signal = signal;
    signal?.addEventListener("abort", this.#onAbort, once);
  }

  read(reader: BodyReader): void {
    this.#reader = reader;
  }

  destroy(): void {
    if (this.#isOver) return;
    if (this.#controller === undefined) this.#fail(stopped);
    else this.#controller.abort(stopped);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // Given up while it waited for a connection.
    if (this.#isOver) controller.abort(stopped);
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    // What comes before an answer is none.
    if (status < 200 || this.#isOver) return;
    this.#isAnswered = true;
    this.headers = headers;
    this.#taker.answered(this, status);
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#reader?.data(chunk);
  }

  onResponseEnd(): void {
    this.#finish(true);
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (this.#isAnswered) this.#finish(false);
    else this.#fail(error);
  }

  #finish(isWhole: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#signal?.removeEventListener("abort", this.#onAbort);
    this.#reader?.over(isWhole);
  }

  #fail(error: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#signal?.removeEventListener("abort", this.#onAbort);
    this.#taker.failed(error, this.#controller !== undefined);
  }
}
