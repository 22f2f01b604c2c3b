// What a key file remembers of the chain of approvers, in FILE.seen beside it: where it was used last, and the head it
// saw there. An intruder who replaces the whole chain, gateway and audit included, does not reach into it where the key
// is kept elsewhere. [B-KEY-2]
import { isObject, type JsonObject } from "@mcpx/protocol";
import { type ReadFile, readWhole, replaceFile } from "../files/replace-file.ts";
import { Failure } from "../framework/failure.ts";

export interface SeenChain {
  aggregatorId: string;
  head: { n: number; hash: string } | undefined;
  /** The hash of an entry; `undefined` where there is none of this number. */
  hashAt(n: number): string | undefined;
}

/** Throws where the chain at this place is not the one of last time; else it is remembered. */
export function checkSeen(keyPath: string, place: string, chain: SeenChain): void {
  const path = `${keyPath}.seen`;
  const before = readWhole(path);
  const seen = parse(before);
  const last = Object.hasOwn(seen, place) && isObject(seen[place]) ? seen[place] : undefined;
  if (last !== undefined) checkSame(path, last, chain);
  if (chain.head === undefined) return;
  const now = { aggregator: chain.aggregatorId, n: chain.head.n, hash: chain.head.hash };
  if (last?.hash === now.hash) return;
  replaceFile(path, `${JSON.stringify({ ...seen, [place]: now })}\n`, 0o600, before);
}

function checkSame(path: string, last: JsonObject, { aggregatorId, hashAt }: SeenChain): void {
  const { aggregator, n, hash } = last;
  const isSame = aggregator === aggregatorId && typeof n === "number" && hashAt(n) === hash;
  if (isSame) return;
  throw new Failure(
    `the chain of approvers there was replaced: entry ${String(n)} is not the one this key has seen, so nothing was signed`,
    `look at mcpx key log; if you have replaced the data directory yourself, remove ${path}`,
  );
}

function parse(read: ReadFile | undefined): JsonObject {
  if (read === undefined) return {};
  try {
    const value: unknown = JSON.parse(read.text);
    if (isObject(value)) return value;
  } catch {
    // Said below.
  }
  throw new Failure(
    "the file in which the key remembers the chain of approvers cannot be read",
    "remove the file KEY.seen",
  );
}
