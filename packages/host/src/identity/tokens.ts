// Tokens: minting our own, and verifying them and those of trusted issuers. [X0-5.1-2] [X0-5.1-3]
import { hash as digest, randomUUID } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { isMcpxError, isObject, type JsonObject, type Level, McpxError } from "@mcpx/protocol";
import { CompactSign, type CompactVerifyGetKey, compactVerify } from "jose";
import type { Clock } from "../clock.ts";
import { badToken, checkAudience, readGrant, readTimes } from "./claims.ts";
import { claimId } from "./id-owners.ts";
import { issuerCacheMs, type TrustedIssuer } from "./issuers.ts";
import type { ParticipantKind, Principal, PublicJwk } from "./principal.ts";
import type { Revocations } from "./revocations.ts";
import type { SigningKeys } from "./signing-keys.ts";

const tokenType = "mcpx+jwt";

/** What a token shall grant; the rest of its claims the gateway sets itself. */
export interface TokenClaims {
  sub?: string | undefined;
  topics: readonly string[];
  level?: Level | undefined;
  kind?: ParticipantKind | undefined;
  name?: string | undefined;
  tools?: readonly string[] | undefined;
  segment?: string | undefined;
  admin?: true | undefined;
  cnf?: { jwk: PublicJwk } | undefined;
}

export interface MintedToken {
  token: string;
  jti: string;
  /** Ms since 1970. */
  expiresAt: number;
}

export interface Tokens {
  mint(claims: TokenClaims, options: { ttlMs: number }): Promise<MintedToken>;
  /** Throws `unauthorised`, `token_expired`, `token_revoked` or `identity_unavailable`. */
  verify(token: string): Promise<Principal>;
}

export interface TokensOptions {
  db: DatabaseSync;
  clock: Clock;
  gatewayId: string;
  keys: SigningKeys;
  revocations: Pick<Revocations, "isRevoked">;
  issuers: ReadonlyMap<string, TrustedIssuer>;
  ttlMsMax: number;
}

const tokenCharsMax = 8_192;
const cacheMax = 10_000;
const issuedKeptMs = 30 * 86_400_000;
/** Header members by which a token would name its own key or rules. */
const headersRefused = ["jwk", "jku", "x5u", "crit", "b64"];

export function createTokens(options: TokensOptions): Tokens {
  const { clock, revocations } = options;
  const cache = new Map<string, { principal: Principal; until: number }>();

  function remember(principal: Principal): void {
    const isOwn = principal.issuer === options.gatewayId;
    // Another issuer may have withdrawn the key: ask again as often as for its keys.
    const until = isOwn ? principal.expiresAt : Math.min(principal.expiresAt, clock.now() + issuerCacheMs);
    const oldest = cache.size < cacheMax ? undefined : cache.keys().next().value;
    if (oldest !== undefined) cache.delete(oldest);
    cache.set(principal.tokenHash, { principal, until });
  }

  return {
    mint: (claims, { ttlMs }) => mint(options, claims, ttlMs),
    async verify(token) {
      if (token.length > tokenCharsMax) throw badToken("the token is too long");
      const hash = digest("sha256", token);
      const cached = cache.get(hash);
      // Taken out and put back: the map's order is then the order of use.
      cache.delete(hash);
      const isFresh = cached !== undefined && cached.until > clock.now();
      const principal = isFresh ? cached.principal : await verify(options, token, hash);
      if (revocations.isRevoked(principal.jti)) throw new McpxError("token_revoked");
      if (isFresh) cache.set(hash, cached);
      else remember(principal);
      return principal;
    },
  };
}

async function mint(options: TokensOptions, claims: TokenClaims, ttlMs: number): Promise<MintedToken> {
  const { db, clock, gatewayId, keys, ttlMsMax } = options;
  if (!(ttlMs > 0 && ttlMs <= ttlMsMax)) throw new McpxError("bad_field", "ttlMs is out of bounds");
  const now = clock.now();
  const iat = Math.floor(now / 1_000);
  // Rounded up, so that a life under a second is one.
  const exp = Math.ceil((now + ttlMs) / 1_000);
  const jti = randomUUID();
  // Through JSON once: members that are undefined are gone, and what is checked is what is signed.
  const granted = JSON.parse(JSON.stringify(claims)) as JsonObject;
  checkMintable(granted);
  const { kid, key } = keys.reserve(exp, (kid) => {
    if (claims.sub !== undefined && !claimId(db, claims.sub, gatewayId)) {
      throw new McpxError("bad_field", "sub belongs to another issuer's participant");
    }
    db.prepare("DELETE FROM issued_tokens WHERE exp * 1000 < ?").run(now - issuedKeptMs);
    db.prepare("INSERT INTO issued_tokens (jti, sub, claims, iat, exp, kid) VALUES (?, ?, ?, ?, ?, ?)").run(
      jti,
      claims.sub ?? null,
      JSON.stringify(granted),
      iat,
      exp,
      kid,
    );
  });
  const payload = { ...granted, iss: gatewayId, aud: gatewayId, iat, exp, jti };
  const token = await new CompactSign(Buffer.from(JSON.stringify(payload)))
    .setProtectedHeader({ alg: "EdDSA", typ: tokenType, kid })
    .sign(key);
  return { token, jti, expiresAt: exp * 1_000 };
}

/** A token we would not accept ourselves is not worth signing. */
function checkMintable(claims: JsonObject): void {
  try {
    readGrant(claims);
  } catch (error) {
    throw isMcpxError(error) ? new McpxError("bad_field", error.detail) : error;
  }
}

async function verify(options: TokensOptions, token: string, tokenHash: string): Promise<Principal> {
  const { db, clock, gatewayId, ttlMsMax } = options;
  const { header, payload: unproven } = decode(token);
  const refused = headersRefused.find((name) => Object.hasOwn(header, name));
  if (refused !== undefined) throw badToken(`the token's header may not have ${refused}`);
  const issuer = typeof unproven.iss === "string" ? options.issuers.get(unproven.iss) : undefined;
  const isOwn = unproven.iss === gatewayId;
  if (issuer === undefined && !isOwn) throw badToken("the token's issuer is not known here");
  if (header.typ !== (issuer?.typ ?? tokenType)) throw badToken("the token is of another type");
  const payload = await provenPayload(
    token,
    issuer?.getKey ?? ownKey(options.keys),
    issuer?.algorithms ?? ["EdDSA"],
  );
  checkAudience(payload, issuer?.audience ?? [gatewayId]);
  const expiresAt = readTimes(payload, { now: clock.now(), ttlMsMax });
  const grant = issuer === undefined ? readGrant(payload) : issuer.narrow(readGrant(payload));
  const jti = readJti(payload) ?? derivedJti(token);
  if (issuer !== undefined && grant.id !== undefined) checkOwner(db, grant.id, issuer.issuer);
  return {
    ...grant,
    topicBounds: issuer?.topicBounds,
    toolBounds: issuer?.toolBounds,
    levelMax: issuer?.levelMax ?? "full",
    expiresAt,
    jti,
    issuer: issuer?.issuer ?? gatewayId,
    tokenHash,
  };
}

function checkOwner(db: DatabaseSync, id: string, issuer: string): void {
  const isTheirs = fromStore(() => claimId(db, id, issuer));
  if (!isTheirs) throw badToken("sub belongs to another issuer's participant");
}

function ownKey(keys: SigningKeys): CompactVerifyGetKey {
  return ({ kid }) => {
    const key = typeof kid === "string" ? fromStore(() => keys.find(kid)) : undefined;
    if (key === undefined) throw badToken("the token's key is not known here");
    return key;
  };
}

/** A store that fails is no reason to call the token bad, nor to call it good. */
function fromStore<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new McpxError("identity_unavailable", "the store of identities cannot be read", { cause });
  }
}

/** The payload, once its signature is proven; the library's own texts stay inside. */
async function provenPayload(
  token: string,
  getKey: CompactVerifyGetKey,
  algorithms: readonly string[],
): Promise<JsonObject> {
  try {
    const { payload } = await compactVerify(token, getKey, { algorithms: [...algorithms] });
    return parseObject(payload);
  } catch (error) {
    if (isMcpxError(error)) throw error;
    throw new McpxError("unauthorised", "the token's signature does not hold", { cause: error });
  }
}

/** Header and payload as they claim to be; they only choose who is asked for the proof. */
function decode(token: string): { header: JsonObject; payload: JsonObject } {
  const [header, payload, signature, ...rest] = token.split(".");
  if (!header || !payload || !signature || rest.length > 0) throw badToken("not a compact JWS");
  // One token has one spelling, or whoever was given one would have many to show.
  if (Buffer.from(signature, "base64url").toString("base64url") !== signature) {
    throw badToken("the signature is not in canonical base64url");
  }
  return {
    header: parseObject(Buffer.from(header, "base64url")),
    payload: parseObject(Buffer.from(payload, "base64url")),
  };
}

function parseObject(bytes: Uint8Array): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw badToken("the token is not readable");
  }
  if (!isObject(value)) throw badToken("the token is not readable");
  return value;
}

/** By what is signed: of an ECDSA signature anybody can make a second that holds too. */
function derivedJti(token: string): string {
  const signed = token.slice(0, token.lastIndexOf("."));
  return `sha256:${digest("sha256", signed)}`;
}

function readJti({ jti }: JsonObject): string | undefined {
  if (jti === undefined) return undefined;
  if (typeof jti !== "string" || jti === "" || jti.length > 128) throw badToken("jti must be a short string");
  return jti;
}
