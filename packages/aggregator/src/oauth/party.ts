// What the steps of an authorisation share: the server it is for, how the operator wants it, and the library.
import type { GuardedFetch } from "./guarded-fetch.ts";

export type OAuthLibrary = typeof import("@modelcontextprotocol/client");

/** What the operator may say of a server's authorization. All of it is optional. */
export interface OAuthConfig {
  /** A client registered beforehand. */
  clientId?: string | undefined;
  clientSecret?: string | undefined;
  /** The only authorization server that may be used. */
  issuer?: string | undefined;
  /** What to ask for where the server does not say. */
  scope?: string | undefined;
  /** An https address that describes us to authorization servers which take such an address for a client id. */
  clientMetadataUrl?: string | undefined;
  /** Of the address we are called back at, where a client registered beforehand has a fixed one. */
  redirectPort?: number | undefined;
}

export interface Party {
  readonly url: URL;
  readonly config: OAuthConfig;
  readonly fetch: GuardedFetch;
  readonly library: OAuthLibrary;
}

/** Most servers never want OAuth, and the library takes a fifth of a second to load. */
export function loadLibrary(): Promise<OAuthLibrary> {
  return import("@modelcontextprotocol/client");
}
