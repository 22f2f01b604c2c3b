// The credentials of one server that wants OAuth: kept, renewed before they end, and got anew when they are refused.
import { type Clock, systemClock } from "@mcpx/host";
import type { McpxError } from "@mcpx/protocol";
import { parseChallenge } from "./challenge.ts";
import type { Credential, CredentialStore } from "./credential-store.ts";
import type { Credentials } from "./credentials.ts";
import { createGuardedFetch, type Lookup } from "./guarded-fetch.ts";
import { load, type OAuthState } from "./oauth-state.ts";
import { obtain } from "./obtain.ts";
import { createOneAtATime } from "./one-at-a-time.ts";
import { loadLibrary, type OAuthConfig } from "./party.ts";
import { renew } from "./renew.ts";

export interface OAuthCredentialsOptions {
  /** What the store keeps them under: the server's name. */
  key: string;
  url: string | URL;
  store: Pick<CredentialStore, "read" | "write" | "inTurn">;
  config?: OAuthConfig | undefined;
  /**
   * Shows a person the address at which to authorise, or opens it. Without it nobody can. `over`: nobody is waited for
   * any more; true where it was granted.
   */
  authorise?: ((url: URL, over: Promise<boolean>) => Promise<void>) | undefined;
  /** Without `authorise`, what to say where a person would have to authorise, again or for more. */
  nobody?: ((scope: string | undefined) => Promise<McpxError>) | undefined;
  authoriseTimeoutMs?: number | undefined;
  clock?: Clock | undefined;
  lookup?: Lookup | undefined;
}

/** Tokens are renewed this long before they end. */
const earlyMs = 30_000;

export function createOAuthCredentials(options: OAuthCredentialsOptions): Credentials {
  const { key, store, config = {}, clock = systemClock, authoriseTimeoutMs = 300_000 } = options;
  const url = new URL(options.url);
  const fetch = createGuardedFetch({ server: url, lookup: options.lookup });
  const state: OAuthState = {
    key,
    store,
    clock,
    show: options.authorise,
    nobody: options.nobody,
    authoriseTimeoutMs,
    party: async () => ({ url, config, fetch, library: await loadLibrary() }),
    held: undefined,
    renewing: undefined,
    renewedAt: Number.NEGATIVE_INFINITY,
    authorisedAt: [],
  };
  const attempts = createOneAtATime();
  let loading: Promise<void> | undefined;

  function loaded(): Promise<void> {
    loading ??= load(state).then(
      (kept) => {
        if (kept && isFor(kept, url, config)) state.held = kept;
      },
      (error: unknown) => {
        loading = undefined;
        throw error;
      },
    );
    return loading;
  }

  return {
    async headers() {
      await loaded();
      // If it fails, the server refuses the old token, and then there is somebody to be told why.
      if (isEnding(state.held, clock.now())) await renew(state).catch(() => false);
      return headersOf(state.held);
    },
    async refused(status, wwwAuthenticate, sent) {
      await loaded();
      const challenge = parseChallenge(wwwAuthenticate);
      if (status === 403 && challenge.error !== "insufficient_scope") return false;
      if (sent && sent.authorization !== headersOf(state.held).authorization) return true;
      return attempts.run(challenge.scope, () => obtain(state, status, challenge));
    },
  };
}

/** A name may come to mean another address, client or issuer: then its tokens are not for us. */
function isFor({ url, client, issuer }: Credential, at: URL, config: OAuthConfig): boolean {
  if (url !== at.href) return false;
  if (config.clientId !== undefined && config.clientId !== client.id) return false;
  return config.issuer === undefined || config.issuer === issuer;
}

function isEnding(credential: Credential | undefined, now: number): boolean {
  const { expiresAt, refresh } = credential?.tokens ?? {};
  return refresh !== undefined && expiresAt !== undefined && expiresAt - now < earlyMs;
}

function headersOf(credential: Credential | undefined): Record<string, string> {
  const access = credential?.tokens?.access;
  return access === undefined ? {} : { authorization: `Bearer ${access}` };
}
