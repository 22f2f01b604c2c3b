// Waits for somebody to sign in to a server, for a while.
import { setTimeout as sleep } from "node:timers/promises";
import type { Person } from "./person.ts";
import type { SignInChange, SignInState } from "./sign-in-state.ts";
import { isSignedIn } from "./user-credentials.ts";

export interface Waiting {
  server: string;
  person: Person;
  ms: number;
  signal: AbortSignal;
}

/** Whether they have. Rejects when the signal aborts. */
export async function untilSignedIn(
  state: SignInState,
  { server, person, ms, signal }: Waiting,
): Promise<boolean> {
  const { promise: changed, resolve } = Promise.withResolvers<void>();
  const hear = (change: SignInChange) => {
    if (change.server === server && change.user === person.name) resolve();
  };
  state.listeners.add(hear);
  try {
    // It may have happened before anybody listened.
    if (isSignedIn(state, server, person)) return true;
    await Promise.race([changed, sleep(ms, undefined, { signal, ref: false })]);
    return isSignedIn(state, server, person);
  } finally {
    state.listeners.delete(hear);
  }
}
