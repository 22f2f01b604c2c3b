// The authorization server and its addresses, over a store in the data directory.
import type { Profiles } from "@mcpx/aggregator";
import type { Audit, Clock, HttpRequest, Identity, Logger, Route } from "@mcpx/host";
import type { Session } from "../console/sessions.ts";
import type { Stores } from "../stores/stores.ts";
import { createAuthorizationServer } from "./authorization-server.ts";
import { consentRoutes } from "./consent-routes.ts";
import { endConsent } from "./consents.ts";
import { pageRoutes } from "./page-routes.ts";
import { protocolRoutes } from "./protocol-routes.ts";

export interface AuthorizationParts {
  stores: Pick<Stores, "authorization">;
  identity: Identity;
  audit: Audit;
  clock: Clock;
  log: Logger;
  user: string;
  profiles: Profiles;
  clientDocuments?: boolean | undefined;
  clientHosts?: readonly string[] | undefined;
}

export interface OpenAuthorization {
  /** For clients and for the page; `check` finds the login at the console, and throws where there is none. */
  routes(check: (request: HttpRequest) => Session): Route[];
  /** For admins. */
  readonly adminRoutes: Route[];
}

/** What is opened is closed by `opened`. */
export function openAuthorization(
  parts: AuthorizationParts,
  opened: AsyncDisposableStack,
): OpenAuthorization {
  const { identity, log } = parts;
  const store = parts.stores.authorization;
  const all = { ...parts, store };
  const server = createAuthorizationServer(all);
  const stopHearing = identity.revocations.onRevoked((jti) => {
    const ended = store.consentOfToken(jti).then(async (consent) => {
      if (consent !== undefined)
        await endConsent(all, consent, { by: "authorization", why: "token_revoked" });
    });
    ended.catch((err: unknown) => log.error({ err }, "could not end the consent of a revoked token"));
  });
  opened.defer(() => void stopHearing());
  return {
    routes: (check) => [...protocolRoutes({ ...all, server }), ...pageRoutes({ ...all, server, check })],
    adminRoutes: consentRoutes(all),
  };
}
