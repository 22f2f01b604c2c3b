// One authorisation by a person at this machine: they go to the authorization server in their browser, and come back to
// a listener of mcpx with a code, which is exchanged for tokens.
import { beginAuthorisation } from "./authorisation.ts";
import type { Credential } from "./credential-store.ts";
import type { Discovery } from "./discover.ts";
import { faultOf } from "./fault.ts";
import { openLoopbackRedirect } from "./loopback-redirect.ts";
import type { Party } from "./party.ts";

export interface Authorisation {
  at: Discovery;
  /** What we have of this very issuer. */
  held: Credential | undefined;
  scope: string | undefined;
  /** Shows the address to a person, or opens it for them. */
  show(url: URL): Promise<void>;
  timeoutMs: number;
  now(): number;
}

export async function authorise(party: Party, authorisation: Authorisation): Promise<Credential> {
  const { at, held, scope, show, timeoutMs, now } = authorisation;
  const redirect = await openLoopbackRedirect(party.config.redirectPort ?? portOf(held?.client.redirect));
  try {
    const begun = await beginAuthorisation(party, { at, held, scope, redirect: redirect.url });
    const [params] = await Promise.all([redirect.answer(begun.state, timeoutMs), show(begun.url)]);
    return await begun.finish(params, now());
  } catch (error) {
    throw faultOf("the authorisation", error);
  } finally {
    await redirect.close();
  }
}

function portOf(address: string | undefined): number {
  return Number(URL.parse(address ?? "")?.port ?? 0);
}
