// Who was ever in which room, and the public key each participant has brought. [X1-10.3-2]
import { type Principal, type PublicJwk, principalKey, thumbprint } from "@mcpx/host";
import { McpxError } from "@mcpx/protocol";
import type { ParticipantStore } from "../state/room-state.ts";

/** Of a token that names no participant: what tells it from another that asserts the same id. */
export function asserterOf(principal: Principal): string | undefined {
  return principal.id === undefined ? principalKey(principal) : undefined;
}

export class KnownParticipants {
  readonly #store: ParticipantStore;
  /** Seen since the last flush: joins are many, so they are written together. */
  readonly #unsaved = new Map<string, { topic: string; id: string }>();
  readonly #max: number;
  /** Rows of each table, counted once and then kept up: there may be very many. */
  readonly #counts: { seen: number; keys: number };
  #flushing: Promise<void> | undefined;

  private constructor(store: ParticipantStore, max: number, counts: { seen: number; keys: number }) {
    this.#store = store;
    this.#max = max;
    this.#counts = counts;
  }

  /** In open mode ids are chosen freely: beyond `max` no more are remembered. */
  static async open(store: ParticipantStore, max: number): Promise<KnownParticipants> {
    return new KnownParticipants(store, max, await store.counts());
  }

  saw(topic: string, id: string): void {
    if (this.#counts.seen + this.#unsaved.size >= this.#max) return;
    this.#unsaved.set(`${topic}\n${id}`, { topic, id });
  }

  async wasSeen(id: string, topic: string | undefined): Promise<boolean> {
    for (const seen of this.#unsaved.values()) {
      if (seen.id === id && (topic === undefined || seen.topic === topic)) return true;
    }
    return this.#store.wasSeen(id, topic);
  }

  async flush(): Promise<void> {
    // Those of one that is under way wait on where it fails.
    await this.#flushing?.catch(() => {});
    if (this.#unsaved.size === 0) return;
    this.#flushing = this.#save([...this.#unsaved]);
    try {
      await this.#flushing;
    } finally {
      this.#flushing = undefined;
    }
  }

  async #save(all: readonly [string, { topic: string; id: string }][]): Promise<void> {
    const added = await this.#store.saw(all.map(([, seen]) => seen));
    for (const [name] of all) this.#unsaved.delete(name);
    this.#counts.seen += added;
  }

  /** Remembers a participant's first key; another one is refused until an admin resets it. */
  async bindKey(id: string, key: PublicJwk, owner?: string): Promise<void> {
    const print = thumbprint(key);
    if (this.#counts.keys < this.#max && (await this.#store.addKey(id, { thumbprint: print, owner }))) {
      this.#counts.keys += 1;
      return;
    }
    const bound = await this.#store.key(id);
    if (bound === undefined) {
      throw new McpxError("rate_limited", `no more than ${this.#max} keys are remembered here`, {
        suggestion: "Ask the operator to raise limits.participantsMax",
      });
    }
    if (bound.thumbprint !== print) throw new McpxError("key_mismatch");
  }

  /**
   * An id that no token names may be asserted by the participant that brought its key, or by a token with that key.
   * [X0-4-7]
   */
  async checkAssertion(
    id: string,
    { owner, key }: { owner: string; key: PublicJwk | undefined },
  ): Promise<void> {
    const bound = await this.#store.key(id);
    if (bound === undefined || bound.owner === owner) return;
    if (key === undefined || thumbprint(key) !== bound.thumbprint) throw new McpxError("key_mismatch");
  }

  async resetKey(id: string): Promise<boolean> {
    const wasThere = await this.#store.removeKey(id);
    if (wasThere) this.#counts.keys -= 1;
    return wasThere;
  }
}
