// Of a server that everybody uses in their own name, for `mcpax.status`: how many have signed in, and whether the one
// who asks has, or where to. Nobody is told who the others are.
import type { JsonObject } from "@mcpx/protocol";
import type { Caller } from "../mcp/exchange.ts";
import type { Server } from "../servers/server.ts";
import { personalOf } from "../servers/server-origin.ts";
import type { TreeState } from "../servers/tree-state.ts";
import { isActing, personOf } from "../servers/users/person.ts";
import { signInAddress } from "../servers/users/sign-in-link.ts";
import { usersOf } from "../servers/users/sign-in-state.ts";
import { isSignedIn } from "../servers/users/user-credentials.ts";

export function signInStatus({ signIns }: TreeState, server: Server, caller: Caller): JsonObject {
  const { name } = server;
  const personal = personalOf(server);
  if (personal === undefined) return {};
  const users = signIns === undefined ? 0 : usersOf(signIns, name).length;
  const person = personOf(caller);
  if (signIns === undefined || person === undefined || isActing(person))
    return { state: "needs sign-in", users, signed_in: false };
  if (isSignedIn(signIns, name, person)) return { users, signed_in: true };
  const needed = { state: "needs sign-in", users, signed_in: false };
  if (caller.isPublic === true) return needed;
  return { ...needed, sign_in_url: signInAddress({ signIns, server: name, personal, person }) };
}
