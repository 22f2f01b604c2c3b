// What an attack got through, and how it was answered.
export interface TallyFigures {
  /** Requests, frames, connections: what the verb counts. */
  sent: number;
  bytes: number;
  /** Status codes, close codes, errors of the socket, reasons of refusals. */
  answers: Record<string, number>;
}

export class Tally implements TallyFigures {
  sent = 0;
  bytes = 0;
  readonly answers: Record<string, number> = {};

  send(bytes: number, count = 1): void {
    this.sent += count;
    this.bytes += bytes;
  }

  answer(what: string | number): void {
    this.answers[what] = (this.answers[what] ?? 0) + 1;
  }
}
