// What one user has of a server that everybody uses in their own name: the server itself, or the place to sign in.
import { McpxError } from "@mcpx/protocol";
import { createServer, type Server } from "../server.ts";
import type { TreeState } from "../tree-state.ts";
import { isActing, type Person } from "./person.ts";
import { signInLink } from "./sign-in-link.ts";
import type { Personal } from "./sign-in-state.ts";
import { isSignedIn, userCredentials } from "./user-credentials.ts";

/** The server as this user, who has signed in, gets it. */
export function signedIn(state: TreeState, server: Server, personal: Personal, person: Person): Server {
  return createServer({
    ...server,
    origin: { kind: "user", user: person.name },
    async open(opening, taker) {
      const { signIns } = state;
      if (!isThere(state, server))
        throw new McpxError("server_unreachable", `${server.name}: it has been changed`);
      if (signIns === undefined || !isSignedIn(signIns, server.name, person)) {
        throw new McpxError("server_unauthorised", `${server.name}: ${person.name} is signed out of it`);
      }
      const credentials = userCredentials(signIns, { server: server.name, personal, person });
      return await personal.open(credentials)(opening, taker);
    },
  });
}

/** Of one who has not: where that is done. Trusted, for it is ours. */
export function signedOut(
  state: TreeState,
  server: Server,
  personal: Personal,
  person: Person | undefined,
): Server {
  const { name, segment, listMs } = server;
  const { signIns } = state;
  const place = person && !isActing(person) && signIns && { signIns, server: name, personal, person };
  const why = whyNot(state, person);
  const open = async () => signInLink(name, place || undefined, why);
  const origin = { kind: "sign-in", user: person?.name } as const;
  return createServer({ name, segment, origin, listMs, isTrusted: true, isUnpinned: true, open });
}

/** Why nobody can sign in here, where that is so. */
function whyNot({ signIns }: TreeState, person: Person | undefined): string {
  if (signIns === undefined) return "users sign in to this server at a running gateway: start mcpx up";
  if (person === undefined) return "each user signs in to it, and this token names no user";
  return `${person.name} is signed out of it`;
}

function isThere({ root, bySegment }: TreeState, server: Server): boolean {
  return (server.segment === undefined ? root : bySegment.get(server.segment)) === server;
}
