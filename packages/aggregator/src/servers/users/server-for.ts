// Which server a caller uses: one that all callers share, or a server of the user's own. A server that users sign in to
// exists once for each user: its sessions, lists and faults belong to that user, so that nothing of them can reach
// another user.
import type { Caller } from "../../mcp/exchange.ts";
import { listKinds } from "../../mcp/list-kinds.ts";
import { retire } from "../retire.ts";
import type { Server } from "../server.ts";
import { personalOf } from "../server-origin.ts";
import { serversOf, type TreeState } from "../tree-state.ts";
import { type Person, personOf } from "./person.ts";
import type { Personal, SignInChange } from "./sign-in-state.ts";
import { isSignedIn } from "./user-credentials.ts";
import { signedIn, signedOut } from "./user-server.ts";

/** A server that one user has signed in to, or can sign in to. */
export interface UserServer {
  readonly server: Server;
  readonly isSignedIn: boolean;
  /** The issuer of the user's token when the server was made. */
  readonly issuer: string | undefined;
  /** Ids of the tokens it was used with. */
  readonly tokens: Set<string>;
  /** Monotonic ms. */
  usedAt: number;
}

/** At one time, for each configured server. The one unused for the longest is closed, and opened again when it is used. */
const userServersMax = 256;
const idleMs = 600_000;
const tokensMax = 256;

/** The user behind a caller, and whether that user has signed in. */
interface Place {
  readonly personal: Personal;
  readonly person: Person | undefined;
  readonly isIn: boolean;
}

/** The server as this caller has it; `undefined` for a user's own server before its first use. Changes nothing. */
export function findServerFor(state: TreeState, server: Server, caller: Caller): Server | undefined {
  const place = placeOf(state, server, caller);
  if (place === undefined) return server;
  const own = userServerOf(server, place);
  return own !== undefined && isMeant(own, place) ? own.server : undefined;
}

export function findServersFor(state: TreeState, caller: Caller): Server[] {
  return serversOf(state).flatMap((server) => findServerFor(state, server, caller) ?? []);
}

/** The same, made where it does not exist yet; it replaces a server of the user's earlier sign-in. */
export function ensureServerFor(state: TreeState, server: Server, caller: Caller): Server {
  const place = placeOf(state, server, caller);
  if (place === undefined) return server;
  let own = userServerOf(server, place);
  if (own !== undefined && !isMeant(own, place)) {
    end(state, server, nameIn(place), false);
    // Ending it may have made the next one already, for a subscription.
    own = userServerOf(server, place);
  }
  if (own !== undefined && !isMeant(own, place)) {
    end(state, server, nameIn(place), true);
    own = undefined;
  }
  own ??= make(state, server, place);
  own.usedAt = state.clock.monotonic();
  noteToken(own, caller.principal.jti);
  // The Map stays in the order of use: the longest unused server is first.
  server.byUser.delete(nameIn(place));
  server.byUser.set(nameIn(place), own);
  return own.server;
}

export function ensureServersFor(state: TreeState, caller: Caller): Server[] {
  return serversOf(state).map((server) => ensureServerFor(state, server, caller));
}

/** `undefined` where a server is the same for everybody. */
function placeOf({ signIns }: TreeState, server: Server, caller: Caller): Place | undefined {
  const personal = personalOf(server);
  if (personal === undefined) return undefined;
  const person = personOf(caller);
  const isIn = person !== undefined && signIns !== undefined && isSignedIn(signIns, server.name, person);
  return { personal, person, isIn };
}

function nameIn({ person }: Place): string {
  return person?.name ?? "";
}

function userServerOf({ byUser }: Server, place: Place): UserServer | undefined {
  return byUser.get(nameIn(place));
}

/** Whether this server belongs to the caller's present sign-in. */
function isMeant(own: UserServer, { person, isIn }: Place): boolean {
  return own.isSignedIn === isIn && (isIn || own.issuer === person?.issuer);
}

/** Keeps the latest `tokensMax`. */
function noteToken({ tokens }: UserServer, jti: string): void {
  tokens.delete(jti);
  const [oldest] = tokens;
  if (tokens.size >= tokensMax && oldest !== undefined) tokens.delete(oldest);
  tokens.add(jti);
}

function make(state: TreeState, server: Server, { personal, person, isIn }: Place): UserServer {
  makeSpace(state, server);
  const made =
    person !== undefined && isIn
      ? signedIn(state, server, personal, person)
      : signedOut(state, server, personal, person);
  return { server: made, isSignedIn: isIn, issuer: person?.issuer, tokens: new Set(), usedAt: 0 };
}

function makeSpace(state: TreeState, server: Server): void {
  const now = state.clock.monotonic();
  const watched = new Set([...state.subscribers].flatMap(({ watches }) => watches.map((one) => one.server)));
  const isBusy = ({ server: own }: UserServer) =>
    watched.has(own) || [...own.links.values()].some(({ inFlight }) => inFlight > 0);
  for (const [name, own] of server.byUser) {
    const isOld = own.usedAt + idleMs <= now;
    if (!isOld && server.byUser.size < userServersMax) return;
    // How many can be busy is bounded by the calls that may be under way.
    if (!isBusy(own)) end(state, server, name, false);
  }
}

/** What was watched of it is watched at the one that takes its place, unless it ends at once. */
function end(state: TreeState, server: Server, name: string, isAtOnce: boolean): void {
  const own = server.byUser.get(name);
  if (own === undefined) return;
  server.byUser.delete(name);
  if (isAtOnce) cut(own.server);
  retire(state, own.server, isAtOnce ? undefined : server);
}

function cut({ links }: Server): void {
  const entries = new Set(links.values());
  // First: an end that was wanted is no loss.
  links.clear();
  for (const { opening } of entries) void opening.then((link) => link.close()).catch(() => {});
}

/** Somebody has signed in or out: theirs begins anew, and they are told. */
export function renewOwn(state: TreeState, { server: name, user, isAtOnce }: SignInChange): void {
  for (const server of serversOf(state)) {
    if (personalOf(server) === undefined || server.name !== name) continue;
    end(state, server, user, isAtOnce);
    state.events.listsChanged(listKinds, user);
  }
}

/** A token was revoked: conversations it was used in end. A user with another token begins new ones. */
export function endOwnOf(state: TreeState, jti: string): void {
  for (const server of serversOf(state)) {
    for (const [name, { tokens }] of server.byUser) if (tokens.has(jti)) end(state, server, name, true);
  }
}
