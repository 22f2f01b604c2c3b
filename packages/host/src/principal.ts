// Who somebody is, as their token says, and which topics that opens. Pure.
import { type AuthScope, type Level, matchesAnyGlob } from "@mcpx/protocol";

export const participantKinds = ["human", "agent", "robot"] as const;

export type ParticipantKind = (typeof participantKinds)[number];

export function isParticipantKind(value: unknown): value is ParticipantKind {
  return participantKinds.includes(value as ParticipantKind);
}

/** A public key as tokens and participants give it: Ed25519 or P-256, nothing private. */
export type PublicJwk =
  | { kty: "OKP"; crv: "Ed25519"; x: string }
  | { kty: "EC"; crv: "P-256"; x: string; y: string };

export interface Principal {
  /** The participant id; only open mode lets somebody without one choose it. */
  id: string | undefined;
  /** Globs of the token. Ask `mayEnter`, which knows the issuer's bounds too. */
  topics: readonly string[];
  /** Globs the issuer is bound to; absent for tokens of this gateway. */
  topicBounds?: readonly string[] | undefined;
  level?: Level | undefined;
  /** No source of level but an admin's decision may lift this principal higher: the issuer's ceiling. */
  levelMax: Level;
  kind?: ParticipantKind | undefined;
  name?: string | undefined;
  /** Globs over canonical tool names; empty means none. */
  tools: readonly string[];
  /** Globs over tool names the issuer is bound to; absent for tokens of this gateway. */
  toolBounds?: readonly string[] | undefined;
  /** The part of the tree it may register as, already within its issuer's bounds. */
  segment?: string | undefined;
  /** Globs over segments the issuer is bound to; absent for tokens of this gateway. */
  segmentBounds?: readonly string[] | undefined;
  /** The most that tools registered with it may need; `read` where it is absent. [AX-10.2-2] */
  scope?: AuthScope | undefined;
  admin: boolean;
  /** The key the token is bound to. */
  key?: PublicJwk | undefined;
  /** Ms since 1970; 0 for a token that does not say, absent for a principal of this process, which has no token. */
  issuedAt?: number | undefined;
  /** Ms since 1970. */
  expiresAt: number;
  jti: string;
  issuer: string;
  /** SHA-256 of the token, for caches and comparison; the token itself is not kept. */
  tokenHash: string;
}

/** Whether a token covers a topic: its own globs say so, and its issuer may grant it. [X0-5.1-2] */
export function mayEnter(principal: Pick<Principal, "topics" | "topicBounds">, topic: string): boolean {
  const { topics, topicBounds } = principal;
  return matchesAnyGlob(topics, topic) && (topicBounds === undefined || matchesAnyGlob(topicBounds, topic));
}

/** What tells one principal from all others. */
export type Payer = Pick<Principal, "issuer" | "id" | "jti">;

/** Whether two have the same key, at less cost. */
export function isSamePayer(one: Payer, other: Payer): boolean {
  return (
    one.issuer === other.issuer && one.id === other.id && (one.id !== undefined || one.jti === other.jti)
  );
}

/** The same for every token of one principal, and for nobody else. */
export function principalKey({ issuer, id, jti }: Payer): string {
  return JSON.stringify(id === undefined ? [issuer, null, jti] : [issuer, id]);
}
