// What the rooms keep beside their logs: admins' decisions, who was where, keys, who made which topic, and capabilities
// that were revoked. In `state.db` or on PostgreSQL.
import type { Level } from "@mcpx/protocol";

export type DecidedLevel = Level | "none";

export interface LevelDecision {
  id: string;
  /** `*` is every topic. */
  topic: string;
  level: DecidedLevel;
}

export interface DecisionStore {
  /** In the order in which they were made. */
  decisions(): Promise<LevelDecision[]>;
  /** Replaces what it covers: one for every topic replaces all of that id. */
  decide(decision: LevelDecision & { by: string; at: number }): Promise<void>;
}

interface KnownKey {
  thumbprint: string;
  /** In open mode, whose token first used it under an id that no token names. */
  owner: string | undefined;
}

export interface ParticipantStore {
  counts(): Promise<{ seen: number; keys: number }>;
  /** Says how many of them are new. */
  saw(seen: readonly { topic: string; id: string }[]): Promise<number>;
  wasSeen(id: string, topic: string | undefined): Promise<boolean>;
  key(id: string): Promise<KnownKey | undefined>;
  /** Says whether it is the first; another one stays. */
  addKey(id: string, key: KnownKey): Promise<boolean>;
  removeKey(id: string): Promise<boolean>;
}

export interface TopicMakerStore {
  made(topic: string, maker: string): Promise<void>;
  makers(): Promise<{ topic: string; maker: string }[]>;
}

export interface RevokedCapabilityStore {
  /** Those that were kept together and are not over: many more than fit as rows. */
  blocks(now: number): Promise<Uint8Array[]>;
  /** Of one issuer in all its topics, not over. */
  countOf(issuer: string, now: number): Promise<number>;
  /** Never shortens the time of one that is there. */
  keep(revoked: RevokedIds, block: Uint8Array): Promise<void>;
  until(topic: string, issuer: string, id: string): Promise<number | undefined>;
  /** What is over. */
  forget(now: number): Promise<void>;
}

export interface RevokedIds {
  topic: string;
  issuer: string;
  ids: readonly string[];
  until: number;
}

export interface RoomState {
  decisions: DecisionStore;
  participants: ParticipantStore;
  topicMakers: TopicMakerStore;
  revoked: RevokedCapabilityStore;
}
