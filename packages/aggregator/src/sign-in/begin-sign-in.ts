// Somebody has said that they are who the address is for: from here they go to the server's authorization server.
import { hash } from "node:crypto";
import { McpxError } from "@mcpx/protocol";
import { beginAuthorisation } from "../oauth/authorisation.ts";
import { type Challenge, parseChallenge } from "../oauth/challenge.ts";
import type { Credential } from "../oauth/credential-store.ts";
import { discover } from "../oauth/discover.ts";
import { createGuardedFetch } from "../oauth/guarded-fetch.ts";
import { scopeFor } from "../oauth/obtain.ts";
import { loadLibrary, type Party } from "../oauth/party.ts";
import { type SignInFlow, type SignInState, usersMax } from "../servers/users/sign-in-state.ts";
import type { SignInTicket } from "../servers/users/sign-in-tickets.ts";
import { clientKey, userKey } from "../servers/users/user-key.ts";

export const callbackPath = "/oauth/callback";

export interface Browser {
  /** Names its cookie. */
  tag: string;
  /** The cookie's value. */
  secret: string;
}

const flowMs = 600_000;
const flowsMax = 1_000;
const flowsPerUserMax = 3;

/** Where the browser goes now. The ticket is used up, unless it could not be begun. */
export async function beginSignIn(
  state: SignInState,
  ticketText: string | undefined,
  browser: Browser,
): Promise<URL> {
  const { ticket, giveBack } = state.tickets.take(ticketText);
  try {
    makeSpace(state, ticket);
    const begun = await authorisationFor(state, ticket);
    state.flows.set(hash("sha256", begun.state, "base64url"), {
      server: ticket.server,
      person: ticket.person,
      begun,
      tag: browser.tag,
      browserHash: hash("sha256", browser.secret, "base64url"),
      endsAt: state.clock.monotonic() + flowMs,
    });
    return begun.url;
  } catch (error) {
    giveBack();
    throw error;
  }
}

async function authorisationFor(state: SignInState, { server, personal, person }: SignInTicket) {
  const { url: address, config } = personal.target();
  const url = new URL(address);
  const fetch = createGuardedFetch({ server: url, lookup: state.lookup });
  const party: Party = { url, config, fetch, library: await loadLibrary() };
  const challenge = await challengeOf(party);
  const at = await discover(party, challenge.resourceMetadata, undefined);
  const wanted = state.scopes.get(userKey(server, person.name));
  const scope = scopeFor(
    { held: undefined },
    party,
    at,
    wanted === undefined ? challenge.scope : party.library.computeScopeUnion(wanted, challenge.scope),
  );
  const kept = await state.store.read(clientKey(server));
  const held = kept?.issuer === at.issuer && kept.url === url.href ? kept : undefined;
  const redirect = new URL(callbackPath, state.base()).href;
  const begun = await beginAuthorisation(party, { at, held, scope, redirect });
  const { client } = begun;
  if (client.redirect !== undefined && client.id !== held?.client.id) {
    const { issuer, resource } = at;
    const registration: Credential = { issuer, url: url.href, resource, client };
    await state.store.write(clientKey(server), registration);
  }
  return begun;
}

const initialize = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "mcpx", version: "0" } },
});

/** What the server says to somebody without credentials: there it names its authorization server. */
async function challengeOf({ fetch, url }: Party): Promise<Challenge> {
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const answer = await fetch(url, { method: "POST", headers, body: initialize });
  return answer.status === 401 ? parseChallenge(answer.headers.get("www-authenticate") ?? undefined) : {};
}

function makeSpace({ flows, clock, signedIn }: SignInState, { server, person }: SignInTicket): void {
  for (const [key, { endsAt }] of flows) if (endsAt <= clock.monotonic()) flows.delete(key);
  const users = signedIn.get(server);
  const isFull = (users?.size ?? 0) >= usersMax && !users?.has(person.name);
  if (isFull || flows.size >= flowsMax) {
    throw new McpxError("rate_limited", "too many people sign in or are signed in", { retryAfterMs: flowMs });
  }
  const isOfUser = (flow: SignInFlow) => flow.server === server && flow.person.name === person.name;
  const own = [...flows].filter(([, flow]) => isOfUser(flow));
  // The oldest goes: nobody has that many windows in mind.
  for (const [key] of own.slice(0, Math.max(0, own.length + 1 - flowsPerUserMax))) flows.delete(key);
}
