// Which server a caller means: the one that is there for all, or their own. A server that everybody uses in their own
// name is one for each: conversations, lists, faults and what is known of it belong to one user, so that nothing of it
// can reach another.
import { McpxError } from "@mcpx/protocol";
import type { Caller } from "../mcp/exchange.ts";
import { listKinds } from "../mcp/list-kinds.ts";
import { isActing, type Person, personOf } from "./person.ts";
import { retire } from "./retire.ts";
import { createServer, type Server } from "./server.ts";
import { personalOf } from "./server-origin.ts";
import { signInLink } from "./sign-in-link.ts";
import type { Personal, SignInChange } from "./sign-in-state.ts";
import { serversOf, type TreeState } from "./tree-state.ts";
import { isSignedIn, userCredentials } from "./user-credentials.ts";

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

export function serverFor(state: TreeState, server: Server, caller: Caller): Server {
  const personal = personalOf(server);
  if (personal === undefined) return server;
  const person = personOf(caller);
  const name = person?.name ?? "";
  const { signIns } = state;
  const isIn = person !== undefined && signIns !== undefined && isSignedIn(signIns, server.name, person);
  // Who signs in must be the one who asks.
  const isOther = (one: OwnServer) => one.isSignedIn !== isIn || (!isIn && one.issuer !== person?.issuer);
  let own = server.own.get(name);
  if (own !== undefined && isOther(own)) {
    end(state, server, name, false);
    // What was watched may have made the next one already.
    own = server.own.get(name);
  }
  if (own !== undefined && isOther(own)) {
    end(state, server, name, true);
    own = undefined;
  }
  own ??= make(state, server, personal, person, isIn);
  own.usedAt = state.clock.monotonic();
  noteToken(own, caller.principal.jti);
  // The longest unused one stands first.
  server.own.delete(name);
  server.own.set(name, own);
  return own.server;
}

export function serversFor(state: TreeState, caller: Caller): Server[] {
  return serversOf(state).map((server) => serverFor(state, server, caller));
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

function make(
  state: TreeState,
  server: Server,
  personal: Personal,
  person: Person | undefined,
  isIn: boolean,
): OwnServer {
  makeRoom(state, server);
  const made = isIn
    ? signedIn(state, server, personal, person as Person)
    : signedOut(state, server, personal, person);
  return { server: made, isSignedIn: isIn, issuer: person?.issuer, tokens: new Set(), usedAt: 0 };
}

function signedIn(state: TreeState, server: Server, personal: Personal, person: Person): Server {
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

/** Trusted, for it is ours. */
function signedOut(state: TreeState, server: Server, personal: Personal, person: Person | undefined): Server {
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
  if (signIns === undefined) return "people sign in to it at a gateway, and this is none";
  if (person === undefined) return "it is used in a user's own name, and this token has none";
  return `${person.name} is signed out of it`;
}

function isThere({ root, bySegment }: TreeState, server: Server): boolean {
  return (server.segment === undefined ? root : bySegment.get(server.segment)) === server;
}

function makeRoom(state: TreeState, server: Server): void {
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
