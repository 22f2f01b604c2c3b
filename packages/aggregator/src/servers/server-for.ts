// Which server a caller means: the one that is there for all, or their own. A server that everybody uses in their own
// name is one for each: conversations, lists, faults and what is known of it belong to one user, so that nothing of it
// can reach another.
import type { Caller } from "../mcp/exchange.ts";
import { listKinds } from "../mcp/list-kinds.ts";
import { type Person, personOf } from "./person.ts";
import { retire } from "./retire.ts";
import type { Server } from "./server.ts";
import { personalOf } from "./server-origin.ts";
import type { Personal, SignInChange } from "./sign-in-state.ts";
import { serversOf, type TreeState } from "./tree-state.ts";
import { isSignedIn } from "./user-credentials.ts";
import { signedIn, signedOut } from "./user-server.ts";

/** One user's. */
export interface OwnServer {
  readonly server: Server;
  readonly isSignedIn: boolean;
  /** Who vouched for its user when it was made. */
  readonly issuer: string | undefined;
  /** Ids of the tokens it was used with. */
  readonly tokens: Set<string>;
  /** Monotonic ms. */
  usedAt: number;
}

/** Of one server, at the same time; who has not used theirs for the longest loses it, and gets it again. */
const ownMax = 256;
const idleMs = 600_000;
const tokensMax = 256;

/** Where a caller's own is, and which one it has to be. */
interface Place {
  readonly personal: Personal;
  readonly person: Person | undefined;
  readonly isIn: boolean;
}

/** What is there for this caller; of a server that is one for each, `undefined` before it was used. Changes nothing. */
export function findServerFor(state: TreeState, server: Server, caller: Caller): Server | undefined {
  const place = placeOf(state, server, caller);
  if (place === undefined) return server;
  const own = ownOf(server, place);
  return own !== undefined && isMeant(own, place) ? own.server : undefined;
}

export function findServersFor(state: TreeState, caller: Caller): Server[] {
  return serversOf(state).flatMap((server) => findServerFor(state, server, caller) ?? []);
}

/** The same for a caller that uses it: made where it is not there, in the place of one that is not meant any more. */
export function ensureServerFor(state: TreeState, server: Server, caller: Caller): Server {
  const place = placeOf(state, server, caller);
  if (place === undefined) return server;
  let own = ownOf(server, place);
  if (own !== undefined && !isMeant(own, place)) {
    end(state, server, nameIn(place), false);
    // What was watched may have made the next one already.
    own = ownOf(server, place);
  }
  if (own !== undefined && !isMeant(own, place)) {
    end(state, server, nameIn(place), true);
    own = undefined;
  }
  own ??= make(state, server, place);
  own.usedAt = state.clock.monotonic();
  noteToken(own, caller.principal.jti);
  // The longest unused one stands first.
  server.own.delete(nameIn(place));
  server.own.set(nameIn(place), own);
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

function ownOf({ own }: Server, place: Place): OwnServer | undefined {
  return own.get(nameIn(place));
}

/** Who signs in must be the one who asks. */
function isMeant(own: OwnServer, { person, isIn }: Place): boolean {
  return own.isSignedIn === isIn && (isIn || own.issuer === person?.issuer);
}

/** All there are, for everybody and for each; what only stands for others is left out. */
export function everyServer(state: TreeState): Server[] {
  return serversOf(state).flatMap(partsOf);
}

/** Itself, or what each user has of it. */
export function partsOf(server: Server): Server[] {
  return personalOf(server) === undefined ? [server] : [...server.own.values()].map((own) => own.server);
}

/** Of very many, the latest. */
function noteToken({ tokens }: OwnServer, jti: string): void {
  tokens.delete(jti);
  const [oldest] = tokens;
  if (tokens.size >= tokensMax && oldest !== undefined) tokens.delete(oldest);
  tokens.add(jti);
}

function make(state: TreeState, server: Server, { personal, person, isIn }: Place): OwnServer {
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
  const isBusy = ({ server: own }: OwnServer) =>
    watched.has(own) || [...own.links.values()].some(({ inFlight }) => inFlight > 0);
  for (const [name, own] of server.own) {
    const isOld = own.usedAt + idleMs <= now;
    if (!isOld && server.own.size < ownMax) return;
    // How many can be busy is bounded by the calls that may be under way.
    if (!isBusy(own)) end(state, server, name, false);
  }
}

/** What was watched of it is watched at the one that takes its place, unless it ends at once. */
function end(state: TreeState, server: Server, name: string, isAtOnce: boolean): void {
  const own = server.own.get(name);
  if (own === undefined) return;
  server.own.delete(name);
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

/** A token was revoked: conversations it was used in end. Whoever has another token begins new ones. */
export function endOwnOf(state: TreeState, jti: string): void {
  for (const server of serversOf(state)) {
    for (const [name, { tokens }] of server.own) if (tokens.has(jti)) end(state, server, name, true);
  }
}
