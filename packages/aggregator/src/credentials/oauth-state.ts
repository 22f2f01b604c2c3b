// What is known of one server's OAuth credentials between requests. No methods: verbs are in files of their own.
import type { Clock } from "@mcpx/host";
import type { Credential, CredentialStore } from "./credential-store.ts";
import type { Party } from "./party.ts";

export interface OAuthState {
  readonly key: string;
  readonly store: CredentialStore;
  readonly clock: Clock;
  readonly show: ((url: URL) => Promise<void>) | undefined;
  readonly authoriseTimeoutMs: number;
  /** Loads the library when somebody first needs it. */
  party(): Promise<Party>;
  held: Credential | undefined;
  /** On the monotonic clock. */
  renewedAt: number;
  authorisedAt: number[];
}

export async function keep(state: OAuthState, credential: Credential | undefined): Promise<void> {
  state.held = credential;
  await state.store.write(state.key, credential);
}
