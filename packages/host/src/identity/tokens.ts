// Tokens: minting our own, and verifying them and those of trusted issuers. [X0-5.1-2] [X0-5.1-3]
import { hash as digest } from "node:crypto";
import {
  type AuthScope,
  isMcpxError,
  type JsonObject,
  type Level,
  McpxError,
  numberOf,
} from "@mcpx/protocol";
import type { Clock } from "../clock.ts";
import type { ParticipantKind, Principal, PublicJwk } from "../principal.ts";
import { badToken, checkAudience, readGrant, readTimes } from "./claims.ts";
import type { IdentityStore } from "./identity-store.ts";
import { issueJws, type MintedToken, type Signing } from "./issue-jws.ts";
import { issuerCacheMs } from "./issuers.ts";
import { checkLength, fromStore, proveJws, readJti, type Signers } from "./jws.ts";
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
  /** The part of the tree it may register as, and the most that its tools there may need. [AX-10.2-2] */
  segment?: string | undefined;
  scope?: AuthScope | undefined;
  admin?: true | undefined;
  cnf?: { jwk: PublicJwk } | undefined;
}

interface MintWish {
  ttlMs: number;
  /** The address it was asked for (RFC 8707), beside this gateway in `aud`. */
  resource?: string | undefined;
}

export interface Tokens {
  mint(claims: TokenClaims, options: MintWish): Promise<MintedToken>;
  /**
   * Throws `unauthorised`, `token_expired`, `token_revoked` or `identity_unavailable`. Every caller, by address or
   * name, waits only behind itself.
   */
  verify(token: string, asker?: string): Promise<Principal>;
}

export interface TokensOptions extends Signers, Signing {
  store: Pick<IdentityStore, "claimId">;
  clock: Clock;
  keys: SigningKeys;
  revocations: Pick<Revocations, "isRevoked">;
  ttlMsMax: number;
}

const cacheMax = 10_000;

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
    mint: (claims, wish) => mint(options, claims, wish),
    async verify(token, asker) {
      checkLength(token);
      const hash = digest("sha256", token);
      const cached = cache.get(hash);
      // Taken out and put back: the map's order is then the order of use.
      cache.delete(hash);
      const isFresh = cached !== undefined && cached.until > clock.now();
      const principal = isFresh ? cached.principal : await verify(options, token, hash, asker);
      if (revocations.isRevoked(principal.jti)) throw new McpxError("token_revoked");
      if (isFresh) cache.set(hash, cached);
      else remember(principal);
      return principal;
    },
  };
}

async function mint(
  options: TokensOptions,
  claims: TokenClaims,
  { ttlMs, resource }: MintWish,
): Promise<MintedToken> {
  const { clock, gatewayId, ttlMsMax } = options;
  if (!(ttlMs > 0 && ttlMs <= ttlMsMax)) throw new McpxError("bad_field", "ttlMs is out of bounds");
  // Rounded up, so that a life under a second is one.
  const exp = Math.ceil((clock.now() + ttlMs) / 1_000);
  // Through JSON once: members that are undefined are gone, and what is checked is what is signed.
  const granted = JSON.parse(JSON.stringify(claims)) as JsonObject;
  checkMintable(granted);
  return issueJws(options, {
    typ: tokenType,
    claims: granted,
    audience: resource === undefined ? gatewayId : [gatewayId, resource],
    exp,
    listed: { sub: claims.sub, claims: granted },
    ownId: claims.sub,
  });
}

/** A token we would not accept ourselves is not worth signing. */
function checkMintable(claims: JsonObject): void {
  try {
    const { scope } = readGrant(claims);
    // Where it is read, a word that is none of ours grants nothing; here it is a mistake.
    if (scope !== claims.scope) throw badToken("scope is not read, write or admin");
  } catch (error) {
    throw isMcpxError(error) ? new McpxError("bad_field", error.detail) : error;
  }
}

async function verify(
  options: TokensOptions,
  token: string,
  tokenHash: string,
  asker: string | undefined,
): Promise<Principal> {
  const { store, clock, gatewayId, ttlMsMax } = options;
  const { payload, issuer } = await proveJws(token, options, (issuer) => issuer?.typ ?? tokenType, asker);
  checkAudience(payload, issuer?.audience ?? [gatewayId]);
  const expiresAt = readTimes(payload, { now: clock.now(), ttlMsMax });
  const grant = issuer === undefined ? readGrant(payload) : issuer.narrow(readGrant(payload));
  const jti = readJti(payload) ?? derivedJti(token);
  if (issuer !== undefined && grant.id !== undefined) await checkOwner(store, grant.id, issuer.issuer);
  return {
    ...grant,
    topicBounds: issuer?.topicBounds,
    toolBounds: issuer?.toolBounds,
    segmentBounds: issuer?.segmentBounds,
    levelMax: issuer?.levelMax ?? "full",
    issuedAt: (numberOf(payload.iat) ?? 0) * 1_000,
    expiresAt,
    jti,
    issuer: issuer?.issuer ?? gatewayId,
    tokenHash,
  };
}

async function checkOwner(store: TokensOptions["store"], id: string, issuer: string): Promise<void> {
  const isTheirs = await fromStore(() => store.claimId(id, issuer));
  if (!isTheirs) throw badToken("sub belongs to another issuer's participant");
}

/** By what is signed: of an ECDSA signature anybody can make a second that holds too. */
function derivedJti(token: string): string {
  const signed = token.slice(0, token.lastIndexOf("."));
  return `sha256:${digest("sha256", signed)}`;
}
