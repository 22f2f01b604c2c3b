// Finding something by the beginning of its id, as people write it.
import { misuse } from "./failure.ts";

/** Shorter beginnings are more likely a slip than a choice. */
const beginningCharsMin = 4;

/** All whose id begins so. */
export function begunWith<T>(id: string, all: readonly T[], idOf: (one: T) => string): T[] {
  return id.length < beginningCharsMin ? [] : all.filter((one) => idOf(one).startsWith(id));
}

/** The one whose id begins so. */
export function fittingOne<T extends { id: string }>(id: string, all: readonly T[]): T | undefined {
  const fitting = begunWith(id, all, (one) => one.id);
  if (fitting.length > 1) throw misuse(`${id} is the beginning of several`, "write more of it");
  return fitting[0];
}
