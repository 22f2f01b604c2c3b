// Somebody's credentials for a server end: nothing of them is kept, and no conversation goes on with them.
import { type SignInState, tellChange } from "./sign-in-state.ts";
import { userKey } from "./user-key.ts";

export interface SignOut {
  server: string;
  user: string;
  /** The operator who wants it; nobody where it has ended by itself. */
  by: string | undefined;
  why: string;
}

/** False where there is nothing to end. */
export async function signOut(state: SignInState, { server, user, by, why }: SignOut): Promise<boolean> {
  const users = state.signedIn.get(server);
  if (!users?.delete(user)) return false;
  const key = userKey(server, user);
  state.credentials.delete(key);
  // First, so that nothing is begun with them while they are being removed.
  tellChange(state, { server, user, isAtOnce: by !== undefined });
  await state.audit?.recordNow({
    action: "oauth.sign_out",
    actor: by ?? user,
    subject: server,
    detail: { user, why },
  });
  state.log.info({ server, user, why }, "user signed out of a server");
  await state.store.write(key, undefined);
  return true;
}
