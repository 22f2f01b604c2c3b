// Admins' decisions about levels, kept over restarts. `none` is a kick: no way in until another decision.
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { immediately } from "@mcpx/host";
import type { Level } from "@mcpx/protocol";

export type DecidedLevel = Level | "none";

/** Stands for every topic; no topic can be named so. */
export const everyTopic = "*";

export class LevelDecisions {
  readonly #db: DatabaseSync;
  readonly #find: StatementSync;
  readonly #any: StatementSync;
  readonly #set: StatementSync;
  readonly #clear: StatementSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
    // The newest decision that covers the topic counts; rowid tells which that is, whatever the clock did.
    this.#find = db.prepare(
      "SELECT level FROM level_decisions WHERE id = ? AND topic IN (?, '*') ORDER BY n DESC LIMIT 1",
    );
    this.#any = db.prepare("SELECT 1 FROM level_decisions WHERE id = ? LIMIT 1");
    this.#set = db.prepare("INSERT INTO level_decisions (id, topic, level, by, at) VALUES (?, ?, ?, ?, ?)");
    this.#clear = db.prepare("DELETE FROM level_decisions WHERE id = ? AND (topic = ? OR ? = '*')");
  }

  find(id: string, topic: string): DecidedLevel | undefined {
    return this.#find.get(id, topic)?.level as DecidedLevel | undefined;
  }

  /** Whether there is one about them, wherever it counts. */
  isAbout(id: string): boolean {
    return this.#any.get(id) !== undefined;
  }

  /** Replaces what the decision covers: a decision for every topic replaces all. */
  decide(id: string, topic: string | undefined, level: DecidedLevel, by: string, at: number): void {
    const scope = topic ?? everyTopic;
    immediately(this.#db, () => {
      this.#clear.run(id, scope, scope);
      this.#set.run(id, scope, level, by, at);
    });
  }
}
