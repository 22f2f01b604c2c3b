// Who was ever in which room, and the public key each participant has brought. [X1-10.3-2]
import type { DatabaseSync } from "node:sqlite";
import { immediately, type Principal, type PublicJwk, principalKey, thumbprint } from "@mcpx/host";
import { McpxError } from "@mcpx/protocol";

/** Of a token that names no participant: what tells it from another that asserts the same id. */
export function asserterOf(principal: Principal): string | undefined {
  return principal.id === undefined ? principalKey(principal) : undefined;
}

export class KnownParticipants {
  readonly #db: DatabaseSync;
  /** Seen since the last flush: joins are many, so they are written together. */
  readonly #unsaved = new Map<string, { topic: string; id: string }>();

  readonly #max: number;
  /** Rows of each table, counted once and then kept up: there may be very many. */
  readonly #counts: { seen: number; keys: number };

  /** In open mode ids are chosen freely: beyond `max` no more are remembered. */
  constructor(db: DatabaseSync, max: number) {
    this.#db = db;
    this.#max = max;
    const count = (table: string) => Number(db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n);
    this.#counts = { seen: count("participants_seen"), keys: count("participant_keys") };
  }

  saw(topic: string, id: string): void {
    if (this.#counts.seen + this.#unsaved.size >= this.#max) return;
    this.#unsaved.set(`${topic}\n${id}`, { topic, id });
  }

  wasSeen(id: string, topic: string | undefined): boolean {
    for (const seen of this.#unsaved.values()) {
      if (seen.id === id && (topic === undefined || seen.topic === topic)) return true;
    }
    const sql = "SELECT 1 FROM participants_seen WHERE id = ? AND (? IS NULL OR topic = ?) LIMIT 1";
    return this.#db.prepare(sql).get(id, topic ?? null, topic ?? null) !== undefined;
  }

  flush(): void {
    if (this.#unsaved.size === 0) return;
    const insert = this.#db.prepare("INSERT OR IGNORE INTO participants_seen (topic, id) VALUES (?, ?)");
    immediately(this.#db, () => {
      for (const { topic, id } of this.#unsaved.values())
        this.#counts.seen += Number(insert.run(topic, id).changes);
    });
    this.#unsaved.clear();
  }

  /** Remembers a participant's first key; another one is refused until an admin resets it. */
  bindKey(id: string, key: PublicJwk, owner?: string): void {
    const print = thumbprint(key);
    const insert = this.#db.prepare(
      "INSERT OR IGNORE INTO participant_keys (id, thumbprint, owner) VALUES (?, ?, ?)",
    );
    if (this.#counts.keys < this.#max)
      this.#counts.keys += Number(immediately(this.#db, () => insert.run(id, print, owner ?? null)).changes);
    const bound = this.#db.prepare("SELECT thumbprint FROM participant_keys WHERE id = ?").get(id);
    if (bound === undefined) {
      throw new McpxError("rate_limited", `no more than ${this.#max} keys are remembered here`, {
        suggestion: "Ask the operator to raise limits.participantsMax",
      });
    }
    if (bound.thumbprint !== print) throw new McpxError("key_mismatch");
  }

  /** An id that no token names may be asserted by whoever brought its key, or by a token with that key. [X0-4-7] */
  checkAssertion(id: string, { owner, key }: { owner: string; key: PublicJwk | undefined }): void {
    const bound = this.#db.prepare("SELECT thumbprint, owner FROM participant_keys WHERE id = ?").get(id);
    if (bound === undefined || bound.owner === owner) return;
    if (key === undefined || thumbprint(key) !== bound.thumbprint) throw new McpxError("key_mismatch");
  }

  resetKey(id: string): boolean {
    const remove = this.#db.prepare("DELETE FROM participant_keys WHERE id = ?");
    const { changes } = immediately(this.#db, () => remove.run(id));
    this.#counts.keys -= Number(changes);
    return changes > 0;
  }
}
