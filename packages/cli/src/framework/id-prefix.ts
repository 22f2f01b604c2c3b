// People write the first characters of an id; this finds the item they mean.
import { misuse } from "./failure.ts";

/** A shorter prefix is more likely a typing error than a choice. */
const prefixCharsMin = 4;

/** All items whose id starts with this prefix. */
export function withIdPrefix<T>(prefix: string, all: readonly T[], idOf: (item: T) => string): T[] {
  return prefix.length < prefixCharsMin ? [] : all.filter((item) => idOf(item).startsWith(prefix));
}

/** The only item whose id starts with this prefix; `undefined` where there is none. */
export function onlyWithIdPrefix<T extends { id: string }>(prefix: string, all: readonly T[]): T | undefined {
  const fitting = withIdPrefix(prefix, all, ({ id }) => id);
  if (fitting.length > 1) throw misuse(`several ids start with ${prefix}`, "write more characters of the id");
  return fitting[0];
}
