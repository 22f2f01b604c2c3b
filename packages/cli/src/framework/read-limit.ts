// `--limit N` of the commands that list.
import { misuse } from "./failure.ts";

const limitMax = 1_000;

export function readLimit(text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback;
  const limit = /^[0-9]{1,6}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= limitMax) return limit;
  throw misuse(`--limit ${text} is not a whole number from 1 to ${limitMax}`);
}
