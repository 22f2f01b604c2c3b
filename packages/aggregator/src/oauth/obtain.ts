// New credentials after a refusal: find out whom the server trusts now, renew if that helps, else ask a person.
import { McpxError } from "@mcpx/protocol";
import { authorise } from "./authorise.ts";
import type { Challenge } from "./challenge.ts";
import type { Credential } from "./credential-store.ts";
import { type Discovery, discover } from "./discover.ts";
import { keep, type OAuthState } from "./oauth-state.ts";
import type { Party } from "./party.ts";
import { renew } from "./renew.ts";

/** Fresh from a renewal and refused again within this time: renewing is no use. */
const renewedInVainMs = 60_000;
/** Nobody is asked more often than this, whatever servers say. */
const authorisationsMax = 3;
const authorisationsWindowMs = 600_000;

/** True with new credentials, false where more cannot be had. */
export async function obtain(state: OAuthState, status: 401 | 403, challenge: Challenge): Promise<boolean> {
  const party = await state.party();
  const at = await discover(party, challenge.resourceMetadata, state.held?.issuer);
  if (state.held && state.held.issuer !== at.issuer) leaveIssuer(state, party, at.issuer);
  const scope = scopeFor(state, party, at, challenge.scope);
  if (status === 401) {
    const isInVain = state.clock.monotonic() - state.renewedAt < renewedInVainMs;
    if (!isInVain && (await renew(state, at))) return true;
  } else if (!party.library.isStrictScopeSuperset(challenge.scope ?? at.scope, state.held?.tokens?.scope)) {
    // All it wants was granted, and yet it refuses: asking the person again would not help.
    return false;
  }
  const over = Promise.withResolvers<boolean>();
  try {
    await keep(state, await askPerson(state, party, at, scope, over.promise));
    over.resolve(true);
  } finally {
    over.resolve(false);
  }
  return true;
}

/** The server trusts another authorization server now: what the former gave us is not shown to it. */
function leaveIssuer(state: OAuthState, { config }: Party, issuer: string): void {
  if (config.clientId !== undefined && config.issuer === undefined) {
    throw new McpxError("server_unauthorised", "the server names another authorization server than before", {
      suggestion: `If that is right, set \`issuer\` to ${JSON.stringify(issuer)} for the server`,
    });
  }
  state.held = undefined;
}

/** What the server asks for now, and what was granted before: a step up must not lose it. */
export function scopeFor(
  { held }: Pick<OAuthState, "held">,
  { library, config }: Party,
  at: Discovery,
  challenged: string | undefined,
): string | undefined {
  const wanted = challenged ?? at.scope ?? config.scope;
  const scope = library.computeScopeUnion(held?.tokens?.scope, wanted);
  const offersOffline = at.metadata.scopes_supported?.includes("offline_access");
  return scope && offersOffline ? library.computeScopeUnion(scope, "offline_access") : scope;
}

async function askPerson(
  state: OAuthState,
  party: Party,
  at: Discovery,
  scope: string | undefined,
  over: Promise<boolean>,
): Promise<Credential> {
  const { show, nobody, clock, held, authoriseTimeoutMs: timeoutMs } = state;
  if (!show && nobody) throw await nobody(scope);
  if (!show)
    throw new McpxError(
      "server_unauthorised",
      "the server needs authorisation, and there is no terminal or page to show its address",
    );
  const now = clock.monotonic();
  const recent = state.authorisedAt.filter((time) => now - time < authorisationsWindowMs);
  if (recent.length >= authorisationsMax) {
    throw new McpxError(
      "server_unauthorised",
      `the server refused the tokens of ${recent.length} authorisations within ten minutes`,
    );
  }
  state.authorisedAt = [...recent, now];
  return await authorise(party, {
    at,
    held,
    scope,
    show: (url) => show(url, over),
    timeoutMs,
    now: () => clock.now(),
  });
}
