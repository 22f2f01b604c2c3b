// The credentials of one user at one server: one object for all conversations, so that however many need a fresh token,
// it is renewed once. What the server or its authorization server does not take any more is a sign-out.
import { McpxError } from "@mcpx/protocol";
import type { Credentials } from "../../oauth/credentials.ts";
import { createOAuthCredentials } from "../../oauth/oauth-credentials.ts";
import { isSamePerson, type Person } from "./person.ts";
import type { Personal, SignInState } from "./sign-in-state.ts";
import { signOut } from "./sign-out.ts";
import { clientKey, userKey } from "./user-key.ts";

const scopesMax = 10_000;

export function isSignedIn({ signedIn }: SignInState, server: string, person: Person): boolean {
  const issuer = signedIn.get(server)?.get(person.name);
  return issuer !== undefined && isSamePerson(issuer, person);
}

/** Only for somebody who is signed in. */
export function userCredentials(
  state: SignInState,
  { server, personal, person }: { server: string; personal: Personal; person: Person },
): Credentials {
  const key = userKey(server, person.name);
  const known = state.credentials.get(key);
  if (known?.personal === personal) return known.credentials;
  const { url, config } = personal.target();
  const isCurrent = () => state.credentials.get(key)?.credentials === credentials;
  const credentials = createOAuthCredentials({
    key,
    url,
    config,
    clock: state.clock,
    lookup: state.lookup,
    store: {
      read: (one) => state.store.read(one),
      inTurn: (one, work) => state.store.inTurn(one, work),
      async write(one, credential) {
        // Renewed while the user signed out, or in again: that counts, and not this.
        if (!isCurrent()) return;
        await state.store.write(one, credential);
        // The authorization server knows us no more: the next user registers us again.
        if (credential === undefined) await state.store.write(clientKey(server), undefined);
      },
    },
    async nobody(scope) {
      if (isCurrent()) {
        if (scope !== undefined && state.scopes.size < scopesMax) state.scopes.set(key, scope);
        const why = "the server or its authorization server no longer accepts it";
        await signOut(state, { server, user: person.name, by: undefined, why });
      }
      return new McpxError("server_unauthorised", `${server}: ${person.name} is signed out of it`, {
        suggestion: "Call the server's sign_in tool",
      });
    },
  });
  state.credentials.set(key, { personal, credentials });
  return credentials;
}
