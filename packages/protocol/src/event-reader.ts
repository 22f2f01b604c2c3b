// Server-sent events out of text or lines: type, data, and what a reader needs to come back, the last id and the delay.
// Pure.

export interface EventTaker {
  /** Every event that has ended. Without data, as some begin or as a mere sign of life, `data` is empty. */
  event(data: string, type: string): void;
  /** One is past the bound. Where this does not throw, what there is of it is left out. */
  tooLarge(): void;
}

const idCharsMax = 1_024;

export class EventReader {
  /** Of the last whole event; what a stream that broke is resumed from. */
  lastId: string | undefined;
  /** What the server wants waited before coming back. */
  retryMs: number | undefined;
  readonly #charsMax: number;
  readonly #taker: EventTaker;
  #rest = "";
  #type = "";
  #data: string | undefined;
  #id: string | undefined;

  constructor(charsMax: number, taker: EventTaker) {
    this.#charsMax = charsMax;
    this.#taker = taker;
  }

  /** Text as it comes, cut anywhere. */
  push(text: string): void {
    if (text.includes("\n")) {
      const lines = (this.#rest + text).split("\n");
      this.#rest = lines.pop() as string;
      for (const line of lines) this.line(line.endsWith("\r") ? line.slice(0, -1) : line);
    } else this.#rest += text;
    if ((this.#data?.length ?? 0) + this.#rest.length <= this.#charsMax) return;
    this.#rest = "";
    this.#leaveOut();
  }

  /** A line without its end, where somebody else has cut them. */
  line(line: string): void {
    if (line === "") {
      this.#dispatch();
      return;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    // The first line of a stream may begin with a byte order mark.
    const field = name.startsWith("\uFEFF") ? name.slice(1) : name;
    if (field === "data") this.#add(value);
    else if (field === "event") this.#type = value;
    else if (field === "id" && !value.includes("\0") && value.length <= idCharsMax) this.#id = value;
    else if (field === "retry" && /^\d{1,9}$/.test(value)) this.retryMs = Number(value);
  }

  #add(value: string): void {
    this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
    if (this.#data.length > this.#charsMax) this.#leaveOut();
  }

  #leaveOut(): void {
    this.#data = "";
    this.#taker.tooLarge();
  }

  #dispatch(): void {
    const [data = "", type] = [this.#data, this.#type];
    if (this.#id !== undefined) this.lastId = this.#id === "" ? undefined : this.#id;
    this.#data = undefined;
    this.#type = "";
    this.#taker.event(data, type === "" ? "message" : type);
  }
}
