// What is known of one server's OAuth credentials between requests, and keeping it. Verbs are in files of their own.
import type { Clock } from "@mcpx/host";
import { McpxError } from "@mcpx/protocol";
import type { Credential, CredentialStore } from "./credential-store.ts";
import type { Party } from "./party.ts";

export interface OAuthState {
  readonly key: string;
  readonly store: Pick<CredentialStore, "read" | "write" | "inTurn">;
  readonly clock: Clock;
  readonly show: ((url: URL, over: Promise<boolean>) => Promise<void>) | undefined;
  /** What is said where nobody can be shown anything; see `OAuthCredentialsOptions`. */
  readonly nobody: ((scope: string | undefined) => Promise<McpxError>) | undefined;
  readonly authoriseTimeoutMs: number;
  /** Loads the library when somebody first needs it. */
  party(): Promise<Party>;
  held: Credential | undefined;
  /** The renewal under way: a refresh token is good for one. */
  renewing: Promise<boolean> | undefined;
  /** On the monotonic clock. */
  renewedAt: number;
  authorisedAt: number[];
}

/** From the store, where it has any. */
export async function load({ store, key }: OAuthState): Promise<Credential | undefined> {
  try {
    return await store.read(key);
  } catch (cause) {
    throw new McpxError("storage_failed", "the credentials cannot be read", { cause });
  }
}

/** They are in use at once; what cannot be stored is lost only with the process. */
export async function keep(state: OAuthState, credential: Credential | undefined): Promise<void> {
  state.held = credential;
  try {
    await state.store.write(state.key, credential);
  } catch (cause) {
    throw new McpxError("storage_failed", "the credentials cannot be kept", { cause });
  }
}
