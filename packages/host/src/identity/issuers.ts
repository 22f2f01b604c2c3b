// Other issuers the operator trusts, each within bounds of its own. A key set that cannot be had means nobody
// gets in by it: never a default identity.
import {
  type AuthScope,
  authScopes,
  isMcpxError,
  type Level,
  levelRank,
  McpxError,
  matchesAnyGlob,
} from "@mcpx/protocol";
import {
  type CompactVerifyGetKey,
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  errors,
  type JSONWebKeySet,
} from "jose";
import type { Clock } from "../clock.ts";
import { isLoopbackHost } from "../http/addresses.ts";
import type { Grant } from "./claims.ts";
import { fetchBounded } from "./fetch-bounded.ts";
import { fewAtOnce } from "./few-at-once.ts";

export interface IssuerConfig {
  issuer: string;
  /** Where its keys are; exactly one of `jwksUri` and `jwks`. */
  jwksUri?: string | undefined;
  jwks?: JSONWebKeySet | undefined;
  /** What its tokens must be for; this gateway's id unless given. */
  audience?: string | readonly string[] | undefined;
  algorithms?: readonly string[] | undefined;
  typ?: "mcpx+jwt" | "at+jwt" | "JWT" | undefined;
  /** Globs it may grant; none unless given. The same for `tools` and `segments`. */
  topics?: readonly string[] | undefined;
  tools?: readonly string[] | undefined;
  segments?: readonly string[] | undefined;
  /** The most that tools registered with its tokens may need; `read` unless given. */
  scope?: AuthScope | undefined;
  /** DNS names it may prove the authority of, `*.` for any one label before; none unless given. */
  authorities?: readonly string[] | undefined;
  /** The highest level it may grant; `restricted` unless given. */
  level?: Level | undefined;
  /** Whether the `admin` claim of its tokens is accepted. */
  admin?: boolean | undefined;
}

export interface TrustedIssuer {
  issuer: string;
  audience: readonly string[];
  algorithms: readonly string[];
  typ: string;
  getKey: CompactVerifyGetKey;
  /** Its signatures are checked a few at a time. */
  inLine: ReturnType<typeof fewAtOnce>;
  topicBounds: readonly string[];
  toolBounds: readonly string[];
  segmentBounds: readonly string[];
  levelMax: Level;
  /** Whether its proofs of authority count for this DNS name. */
  mayProve(name: string): boolean;
  /** What is left of a grant within this issuer's bounds. */
  narrow(grant: Grant): Grant;
}

// Asymmetric only: with HS* everybody who can verify could sign, and `none` is no signature.
const algorithmsKnown = [
  "EdDSA", "Ed25519", "ES256", "ES384", "ES512",
  "RS256", "RS384", "RS512", "PS256", "PS384", "PS512",
]; // biome-ignore format: a table
const algorithmsDefault = ["EdDSA", "ES256", "RS256"];

const fetchTimeoutMs = 5_000;
const keyCooldownMs = 30_000;
/** How long its keys, and tokens verified by them, are believed without asking again. */
export const issuerCacheMs = 600_000;
const failureCooldownMs = 1_000;

/** Checks the configuration, which throws plainly, and makes the issuers ready. */
export function createIssuers(
  configs: readonly IssuerConfig[],
  { clock, gatewayId }: { clock: Clock; gatewayId: string },
): ReadonlyMap<string, TrustedIssuer> {
  const issuers = new Map<string, TrustedIssuer>();
  for (const config of configs) {
    if (config.issuer === gatewayId || issuers.has(config.issuer)) {
      throw new Error(`issuers: ${config.issuer} is given twice`);
    }
    issuers.set(config.issuer, createIssuer(config, clock, gatewayId));
  }
  return issuers;
}

function createIssuer(config: IssuerConfig, clock: Clock, gatewayId: string): TrustedIssuer {
  const algorithms = config.algorithms ?? algorithmsDefault;
  const unknown = algorithms.find((name) => !algorithmsKnown.includes(name));
  if (unknown !== undefined) throw new Error(`issuers: ${config.issuer} may not use ${unknown}`);
  const {
    level: levelMax = "restricted",
    scope: scopeMax = "read",
    segments = [],
    authorities = [],
  } = config;
  return {
    issuer: config.issuer,
    audience: config.audience === undefined ? [gatewayId] : [config.audience].flat(),
    algorithms,
    typ: config.typ ?? "mcpx+jwt",
    getKey: keySource(config, clock),
    inLine: fewAtOnce(8),
    topicBounds: config.topics ?? [],
    toolBounds: config.tools ?? [],
    segmentBounds: segments,
    levelMax,
    mayProve: (name) => matchesAnyGlob(authorities, name, "."),
    narrow: (grant) => ({
      ...grant,
      level: grant.level === undefined ? undefined : lower(grant.level, levelMax),
      segment:
        grant.segment !== undefined && matchesAnyGlob(segments, grant.segment) ? grant.segment : undefined,
      scope: grant.scope === undefined ? undefined : lesser(grant.scope, scopeMax),
      admin: grant.admin && config.admin === true,
    }),
  };
}

function lower(a: Level, b: Level): Level {
  return levelRank(a) <= levelRank(b) ? a : b;
}

function lesser(a: AuthScope, b: AuthScope): AuthScope {
  return authScopes.indexOf(a) <= authScopes.indexOf(b) ? a : b;
}

function keySource({ issuer, jwks, jwksUri }: IssuerConfig, clock: Clock): CompactVerifyGetKey {
  if ((jwks === undefined) === (jwksUri === undefined)) {
    throw new Error(`issuers: ${issuer} needs exactly one of jwks and jwksUri`);
  }
  if (jwks !== undefined) return createLocalJWKSet(jwks);
  const url = new URL(jwksUri ?? "");
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopbackHost(url.hostname))) {
    throw new Error(`issuers: the jwksUri of ${issuer} must be https`);
  }
  const remote = createRemoteJWKSet(url, {
    timeoutDuration: fetchTimeoutMs,
    cooldownDuration: keyCooldownMs,
    cacheMaxAge: issuerCacheMs,
    [customFetch]: fetchBounded,
  });
  let failedAt = Number.NEGATIVE_INFINITY;
  return async (header, token) => {
    // The library waits between fetches only after a success; a flood must not hammer an issuer that is down.
    if (clock.monotonic() - failedAt < failureCooldownMs) throw new McpxError("identity_unavailable");
    try {
      return await remote(header, token);
    } catch (error) {
      if (isTokensFault(error)) throw error;
      failedAt = clock.monotonic();
      throw new McpxError("identity_unavailable", undefined, { cause: error });
    }
  };
}

/** The key set is there, but has no key for this token. */
function isTokensFault(error: unknown): boolean {
  return (
    isMcpxError(error) ||
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWKSMultipleMatchingKeys ||
    error instanceof errors.JOSENotSupported
  );
}
