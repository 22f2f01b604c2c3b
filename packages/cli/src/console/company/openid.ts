// One OpenID provider, by its library: where people are sent, what comes back, and whether they are still there.
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

export function createOpenId(settings: OpenIdSettings): OpenId {
  /** Metadata and keys are read anew: a login is rare, and what was rotated must not lock people out. */
  const open = async () => {
    const library: typeof Library = await import("openid-client");
    const issuer = new URL(settings.issuer);
    const isHere =
      issuer.protocol === "http:" && ["localhost", "127.0.0.1", "[::1]"].includes(issuer.hostname);
    const secret = settings.clientSecret?.();
    const config = await library.discovery(
      issuer,
      settings.clientId,
      undefined,
      secret === undefined ? library.None() : library.ClientSecretBasic(secret),
      { timeout: timeoutS, ...(isHere && { execute: [library.allowInsecureRequests] }) },
    );
    return { library, config };
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
        const isRefused = error instanceof library.ResponseBodyError && error.status < 500;
        if (isRefused) return "gone";
        throw error;
      }
    },
  };
}
