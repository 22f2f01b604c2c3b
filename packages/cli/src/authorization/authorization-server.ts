// The authorization server: one instance of the library for each address the gateway is reached at, since an issuer is
// an address; all over one store. The library is loaded when the first client asks for it.
import type { EventEmitter } from "node:events";
import { createGuardedFetch, type Lookup } from "@mcpx/aggregator";
import type { Clock, Identity, Logger } from "@mcpx/host";
import type { Configuration, Provider } from "oidc-provider";
import { createAdapter } from "./adapter.ts";
import type { ConsentParts } from "./consents.ts";
import { librarySettings, type OidcLibrary } from "./library-settings.ts";
import { createPerAddress } from "./per-address.ts";

export interface AuthorizationServer {
  /** The library as it answers at this address. */
  at(origin: string): Promise<Provider>;
  /** While the work is done, an end of this consent is the client's own wish. */
  givingBack<T>(consent: string | undefined, work: () => Promise<T>): Promise<T>;
}

export interface AuthorizationServerOptions extends ConsentParts {
  identity: Pick<Identity, "secret" | "revocations">;
  clock: Clock;
  log: Logger;
  /** Whether clients may be described by documents elsewhere; yes unless given. */
  clientDocuments?: boolean | undefined;
  /** Hosts whose documents about clients may stand at private addresses. */
  clientHosts?: readonly string[] | undefined;
  lookup?: Lookup | undefined;
}

/** Addresses of one gateway, most of them names for this machine; the one that was used longest ago gives way. */
const issuersMax = 8;
const documentBytesMax = 16_384;
const documentMs = 2_500;
const documentsPerMinute = 20;
/** An address that is public, whatever a name server says: no document stands nearer than that. */
const anywhere = new URL("https://192.0.2.1/");

export function createAuthorizationServer(options: AuthorizationServerOptions): AuthorizationServer {
  const { identity, clock, clientDocuments: hasDocuments = true, clientHosts = [], lookup } = options;
  const providers = new Map<string, Promise<Provider>>();
  const givenBack = new Set<string>();
  const countDocument = createPerAddress(clock, documentsPerMinute);
  const fetchDocument: NonNullable<Configuration["fetch"]> = (address, init) => {
    const url = new URL(String(address instanceof Request ? address.url : address));
    const server = clientHosts.includes(url.hostname) ? url : anywhere;
    const bounds = { bytesMax: documentBytesMax, timeoutMs: documentMs };
    return createGuardedFetch({ server, lookup, ...bounds })(url, { headers: init?.headers ?? {} });
  };
  const create = async (issuer: string): Promise<Provider> => {
    const library: OidcLibrary = await import("oidc-provider");
    const usedBefore = () => new library.errors.InvalidGrant("it was used before");
    const parts = { ...options, usedBefore, isGivenBack: (id: string) => givenBack.has(id) };
    const settings = librarySettings({
      ...{ library, issuer, identity, hasDocuments, fetch: fetchDocument },
      adapter: (kind: string) => createAdapter(parts, kind),
      mayFetch: (ctx) => countDocument(ctx.get(addressHeader)),
    });
    const provider = new library.Provider(issuer, settings);
    // Whether it is reached by TLS is told by us, in a header that is always written.
    provider.proxy = true;
    const fault = (err: unknown) => options.log.error({ err }, "authorization failed unexpectedly");
    provider.on("server_error", (_ctx, err) => fault(err));
    // Without a listener the framework below it would write to the terminal.
    (provider as EventEmitter).on("error", fault);
    return provider;
  };
  return {
    at(origin) {
      const known = providers.get(origin) ?? create(origin);
      providers.delete(origin);
      providers.set(origin, known);
      const [oldest] = providers.keys();
      if (providers.size > issuersMax && oldest !== undefined) providers.delete(oldest);
      return known;
    },
    async givingBack(consent, work) {
      if (consent === undefined) return await work();
      givenBack.add(consent);
      try {
        return await work();
      } finally {
        givenBack.delete(consent);
      }
    },
  };
}

/** Who asks, for the library's side of a relayed request. */
export const addressHeader = "x-mcpx-address";
