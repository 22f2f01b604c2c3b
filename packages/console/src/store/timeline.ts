// What was said in a room, as rows: bounded, filtered, searched, and threaded by what refers to what. Pure.
import type { RoomEnvelope } from "@mcpx/client";
import { parseKind } from "@mcpx/protocol";
import { shortJson } from "../ui/short-json.ts";

export const families = ["chat", "calls", "proposals", "presence", "protocol"] as const;
export type Family = (typeof families)[number];

export interface Row {
  readonly key: string;
  readonly at: number;
  readonly family: Family;
  /** The envelope the conversation began with. */
  readonly thread: string;
  readonly envelope: RoomEnvelope;
}

export interface Filter {
  readonly families: ReadonlySet<Family>;
  readonly search: string;
  readonly thread: string | undefined;
}

export interface Timeline {
  /** Everything that is remembered, oldest first. Not to be changed. */
  readonly rows: readonly Row[];
  /** What the filter leaves, oldest first. Not to be changed. */
  readonly shown: readonly Row[];
  readonly filter: Filter;
  append(envelope: RoomEnvelope, at: number): void;
  /** Older ones, newest first, as a page of history has them. */
  prepend(envelopes: readonly RoomEnvelope[], atOf: (envelope: RoomEnvelope) => number): number;
  /** Of many rows the newest are looked at first, and the rest by `refine`. */
  setFilter(change: Partial<Filter>): void;
  /** Looks at the next rows that the filter has not judged yet; whether there are more. */
  refine(): boolean;
  /** By the envelope's id, while it is remembered. */
  find(id: string): Row | undefined;
}

const rowsMax = 100_000;
/** So many go at once, so that forgetting costs little. */
const forgottenAtOnce = 5_000;
const searchedCharsMax = 2_000;
/** So many rows are judged at once: a page that searches a hundred thousand still hears keys. */
const judgedAtOnce = 2_000;

const noise = new Set([
  "initialize",
  "ping",
  "tools/list",
  "resources/list",
  "prompts/list",
  "server/discover",
]);

export function createTimeline(max = rowsMax): Timeline {
  let rows: Row[] = [];
  let shown: Row[] = [];
  let filter: Filter = {
    families: new Set(["chat", "calls", "proposals", "presence"]),
    search: "",
    thread: undefined,
  };
  const known = new Map<string, Row>();
  const threads = new Map<string, string>();
  const families = new Map<string, Family>();
  const texts = new WeakMap<Row, string>();
  let anonymous = 0;
  /** The rows before this one were not judged by the filter yet. */
  let unjudged = 0;

  const fits = (row: Row) => {
    if (filter.thread !== undefined) return row.thread === filter.thread;
    if (!filter.families.has(row.family)) return false;
    return filter.search === "" || textOf(row).includes(filter.search);
  };
  const textOf = (row: Row) => {
    const text = texts.get(row) ?? searchedText(row.envelope);
    texts.set(row, text);
    return text;
  };
  const rowOf = (envelope: RoomEnvelope, at: number): Row | undefined => {
    const { id, correlation_id, seq } = envelope;
    if (known.has(id)) return undefined;
    const thread = threads.get(correlation_id ?? "") ?? correlation_id ?? id;
    threads.set(id, thread);
    // An answer belongs where its question does.
    const family = familyOf(envelope, families.get(correlation_id ?? ""));
    families.set(id, family);
    anonymous += 1;
    const row = { key: seq === undefined ? `n${anonymous}` : `s${seq}`, at, family, thread, envelope };
    known.set(id, row);
    return row;
  };
  const forget = () => {
    if (rows.length <= max) return;
    const gone = rows.slice(0, Math.max(rows.length - max, Math.min(forgottenAtOnce, max / 2)));
    rows = rows.slice(gone.length);
    for (const { envelope } of gone) {
      known.delete(envelope.id);
      threads.delete(envelope.id);
      families.delete(envelope.id);
    }
    unjudged = Math.max(0, unjudged - gone.length);
    const left = new Set(gone);
    const first = shown.findIndex((row) => !left.has(row));
    shown = first === -1 ? [] : shown.slice(first);
  };
  const refine = () => {
    const from = Math.max(0, unjudged - judgedAtOnce);
    const found = rows.slice(from, unjudged).filter(fits);
    if (found.length > 0) shown = [...found, ...shown];
    unjudged = from;
    return unjudged > 0;
  };

  return {
    get rows() {
      return rows;
    },
    get shown() {
      return shown;
    },
    get filter() {
      return filter;
    },
    append(envelope, at) {
      const row = rowOf(envelope, at);
      if (row === undefined) return;
      rows.push(row);
      if (fits(row)) shown.push(row);
      forget();
    },
    prepend(envelopes, atOf) {
      const older = [...envelopes].reverse().flatMap((one) => rowOf(one, atOf(one)) ?? []);
      const room = Math.max(0, max - rows.length);
      const kept = older.slice(Math.max(0, older.length - room));
      rows = [...kept, ...rows];
      if (unjudged > 0) unjudged += kept.length;
      else shown = [...kept.filter(fits), ...shown];
      return kept.length;
    },
    setFilter(change) {
      filter = { ...filter, ...change, search: (change.search ?? filter.search).toLowerCase() };
      shown = [];
      unjudged = rows.length;
      refine();
    },
    refine,
    find: (id) => known.get(id),
  };
}

function familyOf({ kind, payload }: RoomEnvelope, asked: Family | undefined): Family {
  const known = parseKind(kind)?.kind ?? kind;
  if (known === "chat") return "chat";
  if (known === "presence" || known === "system") return "presence";
  if (known.endsWith(".proposal") || known === "mcp/proposal") return "proposals";
  if (known !== "mcp") return "protocol";
  if (typeof payload.method === "string") {
    return payload.id === undefined || noise.has(payload.method) ? "protocol" : "calls";
  }
  return asked === "protocol" ? "protocol" : "calls";
}

function searchedText({ from, kind, payload }: RoomEnvelope): string {
  const said = typeof payload.text === "string" ? payload.text : shortJson(payload, searchedCharsMax);
  return `${from} ${kind} ${said.slice(0, searchedCharsMax)}`.toLowerCase();
}
