// Who was ever in which room, and the public key each participant has brought. [X1-10.3-2]
import type { DatabaseSync } from "node:sqlite";
import { immediately, type PublicJwk, thumbprint } from "@mcpx/host";
import { McpxError } from "@mcpx/protocol";

export class KnownParticipants {
  readonly #db: DatabaseSync;
  /** Seen since the last flush: joins are many, so they are written together. */
  readonly #unsaved = new Map<string, { topic: string; id: string }>();

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  saw(topic: string, id: string): void {
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
      for (const { topic, id } of this.#unsaved.values()) insert.run(topic, id);
    });
    this.#unsaved.clear();
  }

  /** Remembers a participant's first key; another one is refused until an admin resets it. */
  bindKey(id: string, key: PublicJwk): void {
    const print = thumbprint(key);
    const insert = this.#db.prepare("INSERT OR IGNORE INTO participant_keys (id, thumbprint) VALUES (?, ?)");
    immediately(this.#db, () => insert.run(id, print));
    const bound = this.#db.prepare("SELECT thumbprint FROM participant_keys WHERE id = ?").get(id);
    if (bound?.thumbprint !== print) throw new McpxError("key_mismatch");
  }

  resetKey(id: string): boolean {
    const remove = this.#db.prepare("DELETE FROM participant_keys WHERE id = ?");
    return immediately(this.#db, () => remove.run(id).changes > 0);
  }
}
