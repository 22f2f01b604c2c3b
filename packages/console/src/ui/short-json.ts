// The beginning of a value's JSON: no more is written than is wanted, however large the value is. Pure.
import { isObject } from "@mcpx/protocol";

/** At least the first `max` characters, where there are so many. */
export function shortJson(value: unknown, max: number): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, max));
  if (Array.isArray(value)) {
    return joined(value.values(), "[]", max, (item, left) => shortJson(item, left));
  }
  // Numbers with more digits than others have are objects of their own.
  if (!isObject(value) || isRaw(value)) return JSON.stringify(value) ?? "null";
  return joined(keysOf(value), "{}", max, (key, left) => {
    const name = JSON.stringify(key.slice(0, left));
    return `${name}:${shortJson(value[key], Math.max(0, left - name.length))}`;
  });
}

function joined<T>(
  items: Iterable<T>,
  [open = "", close = ""]: string,
  max: number,
  write: (item: T, left: number) => string,
): string {
  let text = open;
  for (const item of items) {
    if (text.length > 1) text += ",";
    text += write(item, Math.max(0, max - text.length));
    if (text.length >= max) return text;
  }
  return text + close;
}

function* keysOf(value: object): Generator<string> {
  for (const key in value) if (Object.hasOwn(value, key)) yield key;
}

const raw = JSON as unknown as { isRawJSON?(value: unknown): boolean };

/** A number with more digits than others have. */
export function isRaw(value: object): value is { rawJSON: string } {
  return raw.isRawJSON?.(value) === true;
}
