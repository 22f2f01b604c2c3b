// What an append will write, before it is written: the gateway knows where each topic ends, so it gives out the seqs
// itself, and PostgreSQL refuses them where it knows better. Pure.
import { type Appended, bytesInStore, type NewEntry } from "../topic-log.ts";

/** The last entry of a topic. */
export interface Head {
  readonly key: number;
  readonly last: number;
  readonly lastAt: number;
  /** Of all that was appended, trimmed or not. */
  readonly bytes: number;
  /** How often the topic has changed its owner. */
  readonly epoch: number;
}

/** An entry that has its id already. */
export interface Earlier {
  readonly seq: number;
  readonly at: number;
  readonly from: string;
  readonly digest: string;
}

interface NewRow extends Earlier {
  readonly topic: number;
  readonly bytes: number;
  readonly id: string;
  readonly text: string;
}

export interface AppendPlan {
  /** One for each entry, in their order; true once the rows are stored. */
  readonly appended: readonly Appended[];
  readonly rows: readonly NewRow[];
  /** Of every topic that an entry names, also where nothing new is stored. */
  readonly heads: ReadonlyMap<string, { before: Head; after: Head }>;
}

export type EarlierById = ReadonlyMap<string, ReadonlyMap<string, Earlier>>;

/** Every topic of the entries that is ours has its head; ids that are stored already are in `earlier`, as far as they are known. */
export function planAppends(
  entries: readonly NewEntry[],
  headOf: (topic: string) => Head | undefined,
  earlier: EarlierById,
): AppendPlan {
  const rows: NewRow[] = [];
  const heads = new Map<string, { before: Head; after: Head }>();
  const planned = new Map<string, Map<string, Earlier>>();
  const appended = entries.map((entry): Appended => {
    const { topic, id, from, digest } = entry;
    const start = headOf(topic);
    if (start === undefined) return { outcome: "fenced" };
    const head = heads.get(topic) ?? newEnds(start);
    heads.set(topic, head);
    const ids = planned.get(topic) ?? new Map<string, Earlier>();
    planned.set(topic, ids);
    const same = earlier.get(topic)?.get(id) ?? ids.get(id);
    if (same !== undefined) {
      // [X0-4-3]
      if (same.from !== from || same.digest !== digest) return { outcome: "conflict" };
      return { outcome: "duplicate", seq: same.seq, at: same.at };
    }
    head.after = grown(head.after, entry);
    const { key, last: seq, lastAt: at, bytes } = head.after;
    const row = { topic: key, seq, at, bytes, id, from, digest, text: entry.text };
    rows.push(row);
    ids.set(id, row);
    return { outcome: "appended", seq, at };
  });
  return { appended, rows, heads };
}

function newEnds(head: Head): { before: Head; after: Head } {
  return { before: head, after: head };
}

function grown({ key, last, lastAt, bytes, epoch }: Head, entry: NewEntry): Head {
  return {
    key,
    last: last + 1,
    lastAt: Math.max(lastAt, entry.at),
    bytes: bytes + bytesInStore(entry),
    epoch,
  };
}
