// The bridge's own end of XMPP: an account at a server (RFC 6120), or a component with an address of its own (XEP-0114).
import { PlatformError } from "../platform.ts";
import { loadOptional } from "./load-optional.ts";
import {
  type ComponentLibrary,
  declineResumption,
  type Xml,
  type XmppEntity,
  type XmppLibrary,
} from "./xmpp-library.ts";

export interface XmppAccount {
  /** `xmpps://HOST:PORT` (TLS), or `xmpp://HOST:PORT` (STARTTLS; plain on loopback alone). */
  readonly service: string;
  /** Of the account; the host of the service unless given. Of a component, its own. */
  readonly domain: string;
  readonly username: string;
  /** Asked for at each connection: it may be replaced meanwhile. Of a component, the secret it shares with its server. */
  password(): string;
  readonly isComponent?: boolean | undefined;
}

export interface OwnEnd {
  readonly entity: XmppEntity;
  readonly xml: Xml;
  /** Components have to say who sends a stanza; of accounts the server knows. */
  readonly from: { readonly from?: string };
}

const clientPackage: string = "@xmpp/client";

export function createOwnEnd(account: XmppAccount): Promise<OwnEnd> {
  return account.isComponent === true ? createComponent(account) : createClient(account);
}

async function createClient({ service, domain, username, password }: XmppAccount): Promise<OwnEnd> {
  const load = async () => (await import(clientPackage)) as XmppLibrary;
  const { client, xml } = await loadOptional(clientPackage, load);
  const entity = client({
    service,
    domain,
    resource: `mcpx-${crypto.randomUUID()}`,
    credentials: async (authenticate, mechanisms, _fast, connection) => {
      const isSafe = connection.isSecure() || isLoopback(service);
      if (!isSafe)
        throw new PlatformError("refused", "the XMPP server offers no TLS; the password was not sent");
      const mechanism = connection.isSecure() ? mechanisms[0] : mechanisms.find((one) => one !== "PLAIN");
      await authenticate({ username, password: password() }, mechanism);
    },
  });
  declineResumption(entity);
  return { entity, xml, from: {} };
}

async function createComponent({ service, domain, username, password }: XmppAccount): Promise<OwnEnd> {
  // Components have no TLS: nobody between may read or change what is said.
  if (!isLoopback(service)) {
    const fix = "run mcpx on the server's machine, or use a tunnel to it";
    throw new PlatformError("refused", `a component is connected on loopback only: ${fix}`);
  }
  // @ts-expect-error: the library brings no types
  const load = async () => (await import("@xmpp/component")) as ComponentLibrary;
  const { component, xml } = await loadOptional("@xmpp/component", load);
  const entity = component({ service, domain, password: (authenticate) => authenticate(password()) });
  return { entity, xml, from: { from: `${username}@${domain}` } };
}

function isLoopback(service: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(URL.parse(service)?.hostname ?? "");
}
