// One OpenID provider, by its library: where people are sent, what comes back, and whether they are still there.
import type { Clock } from "@mcpx/host";
import type { JsonObject } from "@mcpx/protocol";
import type * as Library from "openid-client";

export interface OpenIdSettings {
  readonly issuer: string;
  readonly clientId: string;
  /** Read anew for each login; absent for a public client. */
  readonly clientSecret?: (() => string) | undefined;
  /** Beside `openid`. */
  readonly scopes: readonly string[];
}

export interface Begun {
  readonly location: URL;
  readonly verifier: string;
  readonly nonce: string;
}

interface Proven {
  readonly claims: JsonObject;
  /** To ask again; absent where the provider gives none. */
  readonly refresh: string | undefined;
}

export interface OpenId {
  begin(redirect: string, state: string): Promise<Begun>;
  /** Throws where anything of it is not valid. */
  finish(came: URL, expected: { state: string; verifier: string; nonce: string }): Promise<Proven>;
  /** `gone` where the provider says so; throws where it could not be asked. */
  askAgain(refresh: string): Promise<Proven | "gone">;
}

const timeoutS = 10;

/** Metadata is read again after this long: what a provider has moved locks nobody out for longer. */
const freshMs = 600_000;
/** A provider that does not give it then is asked again so soon, and what it said last counts meanwhile. */
const againMs = 60_000;
const staleMs = 86_400_000;

/** What a provider has said of itself. Its keys are not asked for: an ID token comes straight from it, over TLS. */
interface Known {
  readonly config: Library.Configuration;
  readonly secret: string | undefined;
  readonly readAgainAt: number;
  readonly endsAt: number;
}

export function createOpenId(settings: OpenIdSettings, clock: Pick<Clock, "monotonic">): OpenId {
  let known: Known | undefined;
  /** Everybody who logs in meanwhile waits for the same answer. */
  let reading: Promise<Known> | undefined;

  async function read(library: typeof Library, secret: string | undefined): Promise<Known> {
    const now = clock.monotonic();
    try {
      const config = await discover(library, settings, secret);
      return { config, secret, readAgainAt: now + freshMs, endsAt: now + staleMs };
    } catch (error) {
      if (known?.secret !== secret || known === undefined || now >= known.endsAt) throw error;
      return { ...known, readAgainAt: now + againMs };
    }
  }

  const open = async () => {
    const library: typeof Library = await import("openid-client");
    const secret = settings.clientSecret?.();
    if (known === undefined || known.secret !== secret || clock.monotonic() >= known.readAgainAt) {
      reading ??= read(library, secret).finally(() => {
        reading = undefined;
      });
      known = await reading;
    }
    return { library, config: known.config };
  };
  return {
    async begin(redirect, state) {
      const { library, config } = await open();
      const verifier = library.randomPKCECodeVerifier();
      const nonce = library.randomNonce();
      const location = library.buildAuthorizationUrl(config, {
        redirect_uri: redirect,
        scope: ["openid", ...settings.scopes].join(" "),
        code_challenge: await library.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
        state,
        nonce,
      });
      return { location, verifier, nonce };
    },
    async finish(came, { state, verifier, nonce }) {
      const { library, config } = await open();
      const answer = await library.authorizationCodeGrant(config, came, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
      return { claims: answer.claims() as JsonObject, refresh: answer.refresh_token };
    },
    async askAgain(refresh) {
      const { library, config } = await open();
      try {
        const answer = await library.refreshTokenGrant(config, refresh);
        const claims = answer.claims();
        return { claims: (claims ?? {}) as JsonObject, refresh: answer.refresh_token ?? refresh };
      } catch (error) {
        const isRefused = error instanceof library.ResponseBodyError && troubleOf(error) === undefined;
        if (isRefused) return "gone";
        throw error;
      }
    },
  };
}

function discover(
  library: typeof Library,
  { issuer, clientId }: OpenIdSettings,
  secret: string | undefined,
): Promise<Library.Configuration> {
  const url = new URL(issuer);
  const isHere = url.protocol === "http:" && ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
  return library.discovery(
    url,
    clientId,
    undefined,
    secret === undefined ? library.None() : library.ClientSecretBasic(secret),
    { timeout: timeoutS, ...(isHere && { execute: [library.allowInsecureRequests] }) },
  );
}

/** Statuses that say nothing of the person: the same question may be answered later. */
const later = new Set([408, 425]);

/** What is wrong with the provider, in words; `undefined` where it has answered, whatever it said. */
export function troubleOf(error: unknown): string | undefined {
  const { status: own, cause, code } = error as { status?: unknown; cause?: unknown; code?: unknown };
  const status = typeof own === "number" ? own : cause instanceof Response ? cause.status : undefined;
  if (status === 429) return "is asked too often (HTTP 429)";
  if (status !== undefined)
    return status >= 500 || later.has(status) ? `answers with HTTP ${status}` : undefined;
  if (code === "OAUTH_TIMEOUT") return `does not answer within ${timeoutS} s`;
  return error instanceof TypeError && cause instanceof Error ? "cannot be reached" : undefined;
}
