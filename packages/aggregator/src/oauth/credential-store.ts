// Where tokens and registrations outlive the process, one credential for each key: a server's name, or what
// `userKey` makes of it and a user's.
import { isObject } from "@mcpx/protocol";

/** mcpx's client registration at one authorization server. */
export interface OAuthClient {
  id: string;
  secret?: string | undefined;
  /** How the token endpoint is told the secret, as registered. */
  method?: string | undefined;
  /** The redirect address it was registered with. */
  redirect?: string | undefined;
}

export interface OAuthTokens {
  access: string;
  refresh?: string | undefined;
  /** What was granted. */
  scope?: string | undefined;
  /** Ms since 1970. */
  expiresAt?: number | undefined;
}

export interface Credential {
  /** Nothing in here is ever shown to another authorization server. */
  issuer: string;
  /** The server's address and the name it has for the issuer: tokens for one address never go to another. */
  url: string;
  resource: string;
  client: OAuthClient;
  tokens?: OAuthTokens | undefined;
  /** Of a user's own: the issuer of the tokens that user comes here with. Another's user of that name is somebody else. */
  userIssuer?: string | undefined;
}

export interface CredentialStore {
  read(key: string): Promise<Credential | undefined>;
  /** Replaces what was there; `undefined` removes it. */
  write(key: string, credential: Credential | undefined): Promise<void>;
  /**
   * One after the other, of all who have this store: `work` is given what is stored in its turn. So no refresh token is
   * used twice.
   */
  inTurn<T>(key: string, work: (stored: Credential | undefined) => Promise<T>): Promise<T>;
  /** Everything that can be read, with its key. */
  entries(): Promise<[key: string, credential: Credential][]>;
}

/** A stored credential, or undefined where it is none: then it has to be got anew. */
export function asCredential(value: unknown): Credential | undefined {
  if (!isObject(value) || !isObject(value.client)) return undefined;
  const { issuer, url, resource, client, tokens, userIssuer } = value;
  if (!areTexts([issuer, url, resource, client.id])) return undefined;
  if (!areTexts([client.secret, client.method, client.redirect, userIssuer].filter(isGiven)))
    return undefined;
  if (tokens !== undefined && !isTokens(tokens)) return undefined;
  return value as unknown as Credential;
}

function isTokens(value: unknown): boolean {
  if (!isObject(value) || typeof value.access !== "string") return false;
  if (!areTexts([value.refresh, value.scope].filter(isGiven))) return false;
  return value.expiresAt === undefined || typeof value.expiresAt === "number";
}

function isGiven(value: unknown): boolean {
  return value !== undefined;
}

function areTexts(values: readonly unknown[]): boolean {
  return values.every((value) => typeof value === "string");
}
