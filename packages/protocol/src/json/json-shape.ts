// Counts what JSON is made of while its bytes come in, before anything is built of them: how deep it goes, and how many
// values it has. A value costs far more memory and time than the two bytes it may take on the wire. Pure.
import { McpxError } from "../errors.ts";

export interface ShapeBounds {
  depthMax: number;
  valuesMax: number;
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/**
 * Takes the bytes of one text, in as many parts as they come. It trusts them to be JSON: the parser that reads them
 * refuses all else.
 */
export class JsonShape {
  readonly #bounds: ShapeBounds;
  #depth = 0;
  #values = 1;
  #isInString = false;
  #isEscaped = false;

  constructor(bounds: ShapeBounds) {
    this.#bounds = bounds;
  }

  /** Throws `too_deep` or `too_many_values`. */
  take(bytes: Uint8Array): void {
    const { depthMax, valuesMax } = this.#bounds;
    let depth = this.#depth;
    let values = this.#values;
    let isInString = this.#isInString;
    let isEscaped = this.#isEscaped;
    for (let i = 0; i < bytes.length; i += 1) {
      const byte = bytes[i];
      if (isInString) {
        if (isEscaped) isEscaped = false;
        else if (byte === backslash) isEscaped = true;
        else if (byte === quote) isInString = false;
      } else if (byte === quote) isInString = true;
      else if (byte === comma) values += 1;
      else if (byte === openBrace || byte === openBracket) {
        values += 1;
        depth += 1;
        if (depth > depthMax) throw new McpxError("too_deep", `deeper than ${depthMax} levels`);
      } else if (byte === closeBrace || byte === closeBracket) depth -= 1;
    }
    if (values > valuesMax) {
      throw new McpxError("too_many_values", `more than ${valuesMax} values in one message`);
    }
    this.#depth = depth;
    this.#values = values;
    this.#isInString = isInString;
    this.#isEscaped = isEscaped;
  }
}
