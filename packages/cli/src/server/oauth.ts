// Credentials of servers that want OAuth, kept in the data directory; people are shown where to authorise.
import { join } from "node:path";
import {
  type AwaitedAuthorisation,
  type Credentials,
  createFileCredentialStore,
  createOAuthCredentials,
  type OAuthConfig,
} from "@mcpx/aggregator";
import type { Logger } from "@mcpx/host";

export interface OAuthServer {
  name: string;
  /** What its credentials are kept under. */
  key: string;
  url: string;
  config: OAuthConfig | undefined;
  /** Told while somebody has to authorise it. */
  awaited: AwaitedAuthorisation;
}

export function oauthIn(dataDir: string, log: Logger): (server: OAuthServer) => Credentials {
  // Made when it is needed: before that, the data directory may not have been looked at.
  let opened: ReturnType<typeof createFileCredentialStore> | undefined;
  const store = () => {
    opened ??= createFileCredentialStore(join(dataDir, "credentials"));
    return opened;
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
