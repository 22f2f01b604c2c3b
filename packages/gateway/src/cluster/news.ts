// What one gateway decides and all have to act on. It is in the store before it is told; the others are told at once,
// and who could not be told finds it there within half a second. Each takes it once.
import type { ClusterStore, Logger } from "@mcpx/host";
import type { Neighbours } from "./neighbours.ts";

export interface NewsFeed {
  /** Resolves with what the other gateways did, those that could be told at once. */
  tell(kind: string, body: unknown): Promise<unknown[]>;
  /** From a peer. Resolves with what this gateway did, `null` where it had done it before. */
  take(seq: number, kind: string, body: unknown): unknown;
  /** From now on news of this kind are acted on. */
  on(kind: string, act: (body: unknown) => unknown): void;
  close(): void;
}

export interface NewsFeedParts {
  store: Pick<ClusterStore, "tell" | "newsAfter" | "lastNews">;
  neighbours: Pick<Neighbours, "askAll">;
  log: Logger;
  /** How often the store is asked. */
  pollMs?: number;
}

const pollDefaultMs = 500;
const pageSize = 500;

/** Before anything is read that news may change: what comes in between is taken twice rather than never. */
export async function openNewsFeed({
  store,
  neighbours,
  log,
  pollMs = pollDefaultMs,
}: NewsFeedParts): Promise<NewsFeed> {
  const acts = new Map<string, (body: unknown) => unknown>();
  /** All up to here were taken, and of those behind it some. */
  let position = await store.lastNews();
  const takenAhead = new Set<number>();

  function take(seq: number, kind: string, body: unknown): unknown {
    if (seq <= position || takenAhead.has(seq)) return null;
    takenAhead.add(seq);
    return acts.get(kind)?.(body) ?? null;
  }

  async function look(): Promise<void> {
    for (;;) {
      const page = await store.newsAfter(position, pageSize);
      for (const { seq, kind, body } of page) {
        take(seq, kind, body);
        position = seq;
        takenAhead.delete(seq);
      }
      if (page.length < pageSize) return;
    }
  }

  let isLooking = false;
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    look()
      .catch((error: unknown) => log.warn({ err: error }, "could not read the news of the cluster"))
      .finally(() => {
        isLooking = false;
      });
  }, pollMs).unref();

  return {
    async tell(kind, body) {
      const seq = await store.tell(kind, body);
      // The caller that announces it has acted on it here already.
      if (seq > position) takenAhead.add(seq);
      return neighbours.askAll("news", { seq, kind, body });
    },
    take,
    on: (kind, act) => void acts.set(kind, act),
    close: () => clearInterval(timer),
  };
}
