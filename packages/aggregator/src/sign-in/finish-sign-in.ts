// Somebody comes back from the authorization server with a code. It counts once, and only in the browser that began.
import { hash, timingSafeEqual } from "node:crypto";
import { isMcpxError, McpxError } from "@mcpx/protocol";
import { noteUser, type SignInFlow, type SignInState, tellChange } from "../servers/users/sign-in-state.ts";
import { userKey } from "../servers/users/user-key.ts";

export interface SignedIn {
  server: string;
  user: string;
  /** Of the cookie, which has done its work. */
  tag: string;
}

/** `secretOf` gives the value of the browser's cookie with this tag. */
export async function finishSignIn(
  state: SignInState,
  params: URLSearchParams,
  secretOf: (tag: string) => string | undefined,
): Promise<SignedIn> {
  const { key, flow } = findFlow(state, params);
  const { server, person, tag } = flow;
  const user = person.name;
  try {
    if (!isSame(hash("sha256", secretOf(tag) ?? "", "base64url"), flow.browserHash)) {
      // The sign-in stays open: a visitor who has only its address cannot end it for the user who began it.
      throw new McpxError("ticket_invalid", "this sign-in was begun in another browser", { suggestion });
    }
    state.flows.delete(key);
    const credential = await flow.begun.finish(params, state.clock.now());
    const kept = userKey(server, user);
    // Before anything is awaited: whatever is being renewed for the former ones is not kept any more.
    state.credentials.delete(kept);
    await state.store.write(kept, { ...credential, userIssuer: person.issuer });
    state.credentials.delete(kept);
    state.scopes.delete(kept);
  } catch (error) {
    const reason = isMcpxError(error) ? error.code : "internal";
    state.audit?.record({ action: "oauth.sign_in", actor: user, subject: server, reason });
    throw error;
  }
  noteUser(state, server, user, person.issuer);
  await state.audit?.recordNow({ action: "oauth.sign_in", actor: user, subject: server });
  state.log.info({ server, user }, "user signed in to a server");
  tellChange(state, { server, user, isAtOnce: false });
  return { server, user, tag };
}

const suggestion = "Ask for a new address: call the server's sign_in tool again";

function findFlow({ flows, clock, audit }: SignInState, params: URLSearchParams) {
  // Nothing an authorization server answers comes twice.
  const isOnce = ["state", "code", "iss", "error"].every((name) => params.getAll(name).length <= 1);
  const key = hash("sha256", params.get("state") ?? "", "base64url");
  const flow: SignInFlow | undefined = isOnce ? flows.get(key) : undefined;
  if (flow !== undefined && flow.endsAt > clock.monotonic()) return { key, flow };
  audit?.record({ action: "oauth.sign_in", reason: "ticket_invalid" });
  throw new McpxError("ticket_invalid", "this sign-in is unknown, over, or was finished before", {
    suggestion,
  });
}

function isSame(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
