// Who is signed in to which server, and the sign-ins under way: state without methods. Verbs are in files of their own.
import type { Audit, Clock, Logger } from "@mcpx/host";
import type { BegunAuthorisation } from "../../oauth/authorisation.ts";
import type { CredentialStore } from "../../oauth/credential-store.ts";
import type { Credentials } from "../../oauth/credentials.ts";
import type { Lookup } from "../../oauth/guarded-fetch.ts";
import type { OAuthConfig } from "../../oauth/party.ts";
import type { OpenServer } from "../server.ts";
import type { Person } from "./person.ts";
import { createSignInTickets, type SignInTickets } from "./sign-in-tickets.ts";
import { readUserKey } from "./user-key.ts";

/** A server that everybody uses in their own name. */
export interface Personal {
  /** Where it is, and how the operator wants its authorisation; asked each time. */
  target(): { url: string; config: OAuthConfig };
  /** How a conversation with these credentials begins. */
  open(credentials: Credentials): OpenServer;
}

/** Somebody at the authorization server, expected back. */
export interface SignInFlow {
  readonly server: string;
  readonly person: Person;
  readonly begun: BegunAuthorisation;
  /** Names the cookie of the browser that began it; its value only as a hash. */
  readonly tag: string;
  readonly browserHash: string;
  /** Monotonic ms. */
  readonly endsAt: number;
}

export interface SignInChange {
  server: string;
  user: string;
  /** What is under way with the former credentials ends at once. */
  isAtOnce: boolean;
}

export interface SignInState {
  readonly store: CredentialStore;
  readonly clock: Clock;
  readonly log: Logger;
  readonly audit: Audit | undefined;
  /** Binds a sign-in page to the browser it was shown in. */
  readonly secret: Uint8Array;
  /** The gateway's address for people. */
  base(): string;
  readonly lookup: Lookup | undefined;
  /** Issuers of users by their names, by the name of the server. */
  readonly signedIn: Map<string, Map<string, string>>;
  readonly tickets: SignInTickets;
  /** By a hash of their OAuth `state`. */
  readonly flows: Map<string, SignInFlow>;
  /** By user key; those of users who are signed in. */
  readonly credentials: Map<string, { personal: Personal; credentials: Credentials }>;
  /** More than was granted, wanted by a server: asked for at the next sign-in. By user key. */
  readonly scopes: Map<string, string>;
  readonly listeners: Set<(change: SignInChange) => void>;
}

export interface SignInOptions {
  store: CredentialStore;
  clock: Clock;
  log: Logger;
  audit?: Audit | undefined;
  secret: Uint8Array;
  base(): string;
  lookup?: Lookup | undefined;
}

/** Of one server. */
export const usersMax = 10_000;

/** Knows from the beginning who is signed in. */
export async function openSignIns(options: SignInOptions): Promise<SignInState> {
  const { store, clock, log, audit, secret, lookup } = options;
  const state: SignInState = {
    store,
    clock,
    log,
    audit,
    secret,
    lookup,
    base: () => options.base(),
    signedIn: new Map(),
    tickets: createSignInTickets(clock),
    flows: new Map(),
    credentials: new Map(),
    scopes: new Map(),
    listeners: new Set(),
  };
  for (const [key, { tokens, userIssuer }] of await store.entries()) {
    const kept = readUserKey(key);
    if (kept && tokens && userIssuer !== undefined) noteUser(state, kept.server, kept.user, userIssuer);
  }
  return state;
}

export function noteUser({ signedIn }: SignInState, server: string, user: string, issuer: string): void {
  const users = signedIn.get(server) ?? new Map<string, string>();
  signedIn.set(server, users.set(user, issuer));
}

export function usersOf({ signedIn }: SignInState, server: string): string[] {
  return [...(signedIn.get(server)?.keys() ?? [])].sort();
}

export function tellChange({ listeners, log }: SignInState, change: SignInChange): void {
  for (const listener of listeners) {
    try {
      listener(change);
    } catch (error) {
      log.error({ err: error, server: change.server }, "sign-in listener failed");
    }
  }
}
