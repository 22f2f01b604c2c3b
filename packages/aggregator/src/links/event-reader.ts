// Server-sent events out of bytes: type, data, and what a reader needs to come back, the last id and the delay.
import { McpxError } from "@mcpx/protocol";
import { LineReader } from "./line-reader.ts";

type Lost = (head: string, tail: string) => void;

export class EventReader {
  /** Of the last whole event; what a stream that broke is resumed from. */
  lastId: string | undefined;
  /** What the server wants waited before coming back. */
  retryMs: number | undefined;
  readonly #lines: LineReader;
  readonly #take: (data: string, type: string) => void;
  readonly #lost: Lost | undefined;
  readonly #bytesMax: number;
  #type = "";
  #data = "";
  #hasData = false;
  #id: string | undefined;

  /**
   * Events without data, which some begin with, are not told of. Those past the bound are `lost`, told with their first
   * and last characters; without somebody to tell, `push` throws `bad_server_answer`.
   */
  constructor(bytesMax: number, take: (data: string, type: string) => void, lost?: Lost) {
    this.#bytesMax = bytesMax;
    this.#take = take;
    this.#lost = lost;
    const long = () => this.#tooLarge();
    const longOver = (head: string, tail: string) => lost?.(head.replace(/^data: ?/, ""), tail);
    this.#lines = new LineReader(bytesMax, { line: (line) => this.#line(line), long, longOver }, true);
  }

  push(chunk: Buffer): void {
    this.#lines.push(chunk);
  }

  #line(line: string): void {
    if (line === "") {
      this.#dispatch();
      return;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    // The first line of a stream may begin with a byte order mark.
    if (field === "data" || field === "\uFEFFdata") {
      this.#data = this.#hasData ? `${this.#data}\n${value}` : value;
      this.#hasData = true;
      if (this.#data.length > this.#bytesMax) {
        this.#tooLarge();
        this.#data = "";
      }
    } else if (field === "event" || field === "\uFEFFevent") this.#type = value;
    else if (field === "id" || field === "\uFEFFid") {
      if (!value.includes("\0") && value.length <= 1_024) this.#id = value;
    } else if (field === "retry" && /^\d{1,9}$/.test(value)) this.retryMs = Number(value);
  }

  #dispatch(): void {
    const data = this.#data;
    const type = this.#type;
    if (this.#id !== undefined) this.lastId = this.#id === "" ? undefined : this.#id;
    this.#data = "";
    this.#hasData = false;
    this.#type = "";
    if (data !== "") this.#take(data, type === "" ? "message" : type);
  }

  #tooLarge(): void {
    if (this.#lost !== undefined) return;
    throw new McpxError("bad_server_answer", `it sent an event of more than ${this.#bytesMax} bytes`);
  }
}
