// Admins' decisions about levels, kept over restarts, all of them in memory: levels are asked for wherever somebody comes
// in. `none` is a kick: no way in until another decision.
import type { DecidedLevel, DecisionStore, LevelDecision } from "../state/room-state.ts";

/** Stands for every topic; no topic can be named so. */
export const everyTopic = "*";

export class LevelDecisions {
  readonly #store: DecisionStore;
  /** By id, in the order in which they were made. */
  readonly #made = new Map<string, LevelDecision[]>();

  private constructor(store: DecisionStore) {
    this.#store = store;
  }

  static async open(store: DecisionStore): Promise<LevelDecisions> {
    const opened = new LevelDecisions(store);
    for (const decision of await store.decisions()) opened.#note(decision);
    return opened;
  }

  /** The newest that covers the topic. */
  find(id: string, topic: string): DecidedLevel | undefined {
    return this.#made.get(id)?.findLast((one) => one.topic === topic || one.topic === everyTopic)?.level;
  }

  /** Whether there is one about them, wherever it counts. */
  isAbout(id: string): boolean {
    return this.#made.has(id);
  }

  /** Replaces what the decision covers: a decision for every topic replaces all. Counts once it is durable. */
  async decide(
    id: string,
    topic: string | undefined,
    level: DecidedLevel,
    by: string,
    at: number,
  ): Promise<void> {
    const decision = { id, topic: topic ?? everyTopic, level };
    await this.#store.decide({ ...decision, by, at });
    this.#note(decision);
  }

  /** It was made elsewhere, and is durable. */
  take(decision: LevelDecision): void {
    this.#note(decision);
  }

  #note(decision: LevelDecision): void {
    const { id, topic } = decision;
    const others = this.#made.get(id)?.filter((one) => topic !== everyTopic && one.topic !== topic);
    this.#made.set(id, [...(others ?? []), decision]);
  }
}
