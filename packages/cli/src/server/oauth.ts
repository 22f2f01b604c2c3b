// Credentials of servers that want OAuth, kept with the rest of the state; people are shown where to authorise.
import {
  type AwaitedAuthorisation,
  type CredentialStore,
  type Credentials,
  createOAuthCredentials,
  type OAuthConfig,
} from "@mcpx/aggregator";
import type { Logger } from "@mcpx/host";
import { openLocalState } from "../files/local-store.ts";
import type { Home } from "../files/state-place.ts";

export interface OAuthServer {
  name: string;
  /** What its credentials are kept under. */
  key: string;
  url: string;
  config: OAuthConfig | undefined;
  /** Told while somebody has to authorise it. */
  awaited: AwaitedAuthorisation;
}

/** What is opened is closed by `opened`. */
export function oauthIn(
  home: Home,
  log: Logger,
  opened: AsyncDisposableStack,
): (server: OAuthServer) => Credentials {
  // Opened when it is needed: before that, the data directory may not have been looked at.
  let made: Promise<CredentialStore> | undefined;
  const store = () => {
    made ??= openLocalState(home, opened).then(({ credentials }) => credentials());
    return made;
  };
  return ({ name, key, url, config, awaited }) =>
    createOAuthCredentials({
      key,
      url,
      config,
      store: {
        read: async (one) => (await store()).read(one),
        write: async (one, credential) => (await store()).write(one, credential),
        inTurn: async (one, work) => (await store()).inTurn(one, work),
      },
      authorise: async (address, over) => {
        awaited.address = address.href;
        void over.then((isGranted) => {
          awaited.address = undefined;
          awaited.over?.(isGranted);
        });
        log.warn(
          { server: name, address: address.href },
          "server needs authorisation: open this address in a browser",
        );
      },
    });
}
