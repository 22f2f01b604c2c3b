// Server-sent events out of text: their data, nothing else.
import { RoomError } from "../core/room-error.ts";
import { messageCharsMax } from "./channel.ts";

export class EventReader {
  readonly #take: (data: string) => void;
  #rest = "";
  #data: string[] = [];
  #chars = 0;

  /** Events without data, which some begin with, are not told of. */
  constructor(take: (data: string) => void) {
    this.#take = take;
  }

  /** Throws `bad_answer` where an event is larger than any message. */
  push(text: string): void {
    if (text.includes("\n")) {
      const lines = (this.#rest + text).split("\n");
      this.#rest = lines.pop() as string;
      for (const line of lines) this.#line(line.endsWith("\r") ? line.slice(0, -1) : line);
    } else this.#rest += text;
    if (this.#chars + this.#rest.length > messageCharsMax) {
      throw new RoomError("bad_answer", "the aggregator sent an event that is too large");
    }
  }

  #line(line: string): void {
    if (line === "") {
      const data = this.#data.join("\n");
      this.#data = [];
      this.#chars = 0;
      if (data !== "") this.#take(data);
    } else if (line.startsWith("data:")) {
      const value = line.slice(line[5] === " " ? 6 : 5);
      this.#chars += value.length + 1;
      this.#data.push(value);
    }
  }
}
