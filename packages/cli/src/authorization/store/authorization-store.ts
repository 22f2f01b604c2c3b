// What the authorization server remembers: artifacts of the protocol (clients, codes, refresh tokens), what people have
// allowed to clients, and which access tokens were issued for it. Asynchronous: a store elsewhere must fit as well.
import type { JsonObject, Level } from "@mcpx/protocol";

export interface Artifact {
  /** What it is: `Client`, `Interaction`, `RefreshToken` and so on. */
  readonly kind: string;
  /** A hash of its secret: a reader of the store can use nothing of it. */
  readonly key: string;
  readonly payload: JsonObject;
  /** The consent that it belongs to. */
  readonly consent: string | undefined;
  /** A second name, of sessions. */
  readonly uid: string | undefined;
  /** Ms since 1970. */
  readonly expiresAt: number;
}

export interface StoredArtifact extends Artifact {
  readonly consumedAt: number | undefined;
}

/** What a person has allowed one client. */
export interface Consent {
  readonly id: string;
  readonly client: string;
  /** As the client calls itself, at the time of the consent. */
  readonly clientName: string;
  /** Where codes are sent, without a query. */
  readonly redirect: string;
  /** The account that gave the consent. */
  readonly account: string;
  /** The address the client asked for. */
  readonly resource: string;
  /** The participant id of its tokens. */
  readonly participant: string;
  readonly topics: readonly string[];
  readonly tools: readonly string[];
  readonly level: Level;
  /** Ms since 1970, all three. */
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly usedAt: number | undefined;
}

export interface AuthorizationStore {
  /** In the place of the one with the same kind and key. Past `bounds` those that end first are forgotten. */
  put(artifact: Artifact): Promise<void>;
  find(kind: string, key: string, now: number): Promise<StoredArtifact | undefined>;
  findByUid(kind: string, uid: string, now: number): Promise<StoredArtifact | undefined>;
  /** Whether it was there and not consumed before: of two at once, one gets `true`. */
  consume(kind: string, key: string, now: number): Promise<boolean>;
  /** The same artifact under another key. */
  rename(kind: string, key: string, to: string): Promise<void>;
  /** Lets it live longer, never shorter. */
  prolong(kind: string, key: string, expiresAt: number): Promise<void>;
  remove(kind: string, key: string): Promise<void>;
  /** All artifacts of a consent. */
  removeOf(consent: string): Promise<void>;
  /** Throws `rate_limited` where there are too many already. */
  addConsent(consent: Consent): Promise<void>;
  consent(id: string, now: number): Promise<Consent | undefined>;
  /** Those that have not ended, newest first. */
  consents(now: number): Promise<Consent[]>;
  /** Removes it with its artifacts, and returns the ids of its access tokens; `undefined` where there is none. */
  endConsent(id: string): Promise<string[] | undefined>;
  /** An access token was issued for it. `false` where it has ended meanwhile: the token must not count then. */
  addToken(token: { jti: string; consent: string; expiresAt: number }, now: number): Promise<boolean>;
  /** The access tokens that have not ended. */
  tokensOf(consent: string, now: number): Promise<string[]>;
  consentOfToken(jti: string): Promise<string | undefined>;
}

export const bounds = {
  /** Artifacts of one kind: strangers make clients, interactions and sessions. */
  perKindMax: 2_000,
  /** Artifacts of one kind that belong to one consent: used refresh tokens are kept, to see them come again. */
  perConsentMax: 500,
  consentsMax: 500,
} as const;
