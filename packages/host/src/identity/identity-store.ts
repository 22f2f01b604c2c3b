// Where identity is kept: in `state.db` or on PostgreSQL. Other processes make, rotate and revoke at any time.
import type { JsonObject } from "@mcpx/protocol";

export interface IdentityStore {
  /** As old as the store; made once, whichever process comes first. */
  gatewayId(make: () => string): Promise<string>;
  rootSecret(make: () => string): Promise<string>;

  /** Whether the id is the issuer's, claiming it where it is nobody's. */
  claimId(id: string, issuer: string): Promise<boolean>;
  /** Whether a token has named the id, ours or another issuer's. */
  hasOwner(id: string): Promise<boolean>;
  /** Frees the ids of issuers that are no longer configured. */
  forgetOwners(configured: readonly string[]): Promise<void>;

  /** The same array as before where nothing has changed; it may be half a second old unless `isFresh`. */
  keys(isFresh?: boolean): Promise<readonly PublicKeyRow[]>;
  /** Makes sure that there is an active key. */
  needKey(make: () => NewKey): Promise<void>;
  /**
   * The active key for this token, which is remembered in the same step: a token is never signed by a key that forgot
   * it. `undefined` where its id is another issuer's.
   */
  reserve(token: NewToken, make: () => NewKey): Promise<PrivateKeyRow | undefined>;
  /** Retires the active key for this one. Says which that was. */
  rotate(key: NewKey): Promise<string | undefined>;

  /** Those with a greater number, by their numbers. At once, where the store can. */
  revokedSince(number: number): readonly RevokedRow[] | Promise<readonly RevokedRow[]>;
  revoke(wish: RevokeWish): Promise<{ revokedAt: number; forgetAt: number; known: boolean }>;
  /** Newest first. */
  listIssued(limit: number): Promise<IssuedToken[]>;
}

export interface PublicKeyRow {
  kid: string;
  publicJwk: string;
  retiredAt: number | undefined;
  /** In seconds: the end of the last token it signed. */
  lastExp: number;
}

export interface PrivateKeyRow {
  kid: string;
  privateJwk: string;
}

export interface NewKey extends PrivateKeyRow {
  publicJwk: string;
  /** Ms since 1970. */
  createdAt: number;
}

export interface NewToken {
  jti: string;
  sub: string | undefined;
  /** What the list of issued tokens shows. */
  claims: JsonObject;
  /** In seconds, as `exp`. */
  iat: number;
  exp: number;
  /** What ended before this second is listed no more. */
  forgetBefore: number;
  /** The id it names, and who issues it. */
  owner: { id: string; issuer: string } | undefined;
}

export interface RevokedRow {
  /** Greater than that of every revocation that could be seen before. */
  number: number;
  jti: string;
  /** Ms since 1970. */
  forgetAt: number;
}

interface RevokeWish {
  jti: string;
  now: number;
  /** How long a token lives that was not issued here. */
  lifeMs: number;
  /** How much longer than the token its revocation is kept. */
  spareMs: number;
}

export interface IssuedToken {
  jti: string;
  sub: string | undefined;
  /** Topics, level and the like: what was granted, never the token. */
  claims: JsonObject;
  /** Ms since 1970, as the two below. */
  issuedAt: number;
  expiresAt: number;
  revokedAt: number | undefined;
  kid: string;
}
