// Reading JSON so that writing it again changes nothing that means anything: a number JavaScript would round or
// rewrite (2^53+1, 1.0, 1e400) stays the text it was, as `JSON.rawJSON`. Duplicate keys and blanks are not kept.

// TypeScript does not know these yet; Node 24 and browsers do.
interface ExactJson {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): object;
  isRawJSON(value: unknown): value is { rawJSON: string };
}

const exact = JSON as unknown as ExactJson;

/**
 * Numbers that may not survive, where a number can begin. Text that only looks like one costs time and no truth, but
 * what every message has ("2.0", dates) must not: reading number by number takes four times as long.
 */
const suspicious = /(?:^|[:,[\s])(?:-0|-?(?:\d{16}|\d{1,15}[.eE]))/;

/** As `JSON.parse`, but numbers keep their text. */
export function parseExact(text: string): unknown {
  if (!suspicious.test(text)) return JSON.parse(text);
  return exact.parse(text, (_key, value, { source }) =>
    typeof value === "number" && source !== undefined && String(value) !== source
      ? exact.rawJSON(source)
      : value,
  );
}

/** A number that was read exactly, as JavaScript has it; anything else is `undefined`. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  return exact.isRawJSON(value) ? Number(value.rawJSON) : undefined;
}
