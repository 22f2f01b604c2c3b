// The past of the room, over REST, a page at a time. [X0-12-3]
import type { RoomCore } from "../core/room-core.ts";
import { isRoomEnvelope, type RoomEnvelope } from "../core/room-envelope.ts";

export interface HistoryOptions {
  /** 100 unless given. */
  limit?: number;
  /** An envelope's id or a time of receipt. */
  before?: string;
  after?: string;
  beforeSeq?: number;
  afterSeq?: number;
}

export interface HistoryPage {
  /** Newest first, each with `seq` and `at`. */
  envelopes: RoomEnvelope[];
  /** The next older page; `undefined` at the beginning of time. */
  next: (() => Promise<HistoryPage>) | undefined;
}

export function readHistory(core: RoomCore, options: HistoryOptions): Promise<HistoryPage> {
  const { limit, before, after, beforeSeq, afterSeq } = options;
  const given = { limit, before, after, before_seq: beforeSeq, after_seq: afterSeq };
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(given)) if (value !== undefined) query.set(name, String(value));
  return readPage(core, query);
}

async function readPage(core: RoomCore, query: URLSearchParams): Promise<HistoryPage> {
  const { options, signal } = core.connection;
  const { page, text } = await options.transport.history(core.topic, query, signal);
  const { envelopes, next } = page;
  options.signing?.keepList(envelopes, text, ["envelopes"]);
  return {
    envelopes: Array.isArray(envelopes) ? envelopes.filter(isRoomEnvelope) : [],
    next:
      typeof next === "string" ? () => readPage(core, new URLSearchParams(next.split("?")[1])) : undefined,
  };
}
