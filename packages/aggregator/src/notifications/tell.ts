// What servers say unasked, and what the tree itself says of its servers, to everybody who may hear it: the trees above
// us and the clients that asked. [AX-12-1]
import { type JsonObject, treeNotifications } from "@mcpx/protocol";
import { seesRoot } from "../catalogue/directory.ts";
import { mayHear } from "../catalogue/may-see.ts";
import type { Caller } from "../mcp/exchange.ts";
import {
  isForEverybody,
  type Origin,
  rooted,
  routeIn,
  type Upward,
  upward,
  withOrigin,
} from "../names/upward.ts";
import { isTree, type Server } from "../servers/server.ts";
import { isGuest, payerOf, registeredOf, userOf } from "../servers/server-origin.ts";
import type { TreeState } from "../servers/tree-state.ts";
import { personOf } from "../servers/users/person.ts";
import { isSignedIn } from "../servers/users/user-credentials.ts";
import type { Subscriber } from "./subscriptions.ts";

/** `owner`: the caller to whom the session belongs; then only this caller is notified. */
export function tellUpward(
  state: TreeState,
  server: Server,
  { method, params }: Upward,
  owner?: Caller | undefined,
): void {
  const told = upward(originOf(server), method, params);
  const isMeant = ({ caller }: Subscriber) => {
    if (owner !== undefined) return caller.key === owner.key;
    // This caller gets the same notification in its own session.
    if (hasBeside(server, caller)) return false;
    return caller.isParent === true || isForEverybody(method);
  };
  tell(state, server, told, isMeant);
}

function hasBeside({ links }: Server, { key }: Caller): boolean {
  return [...links.values()].some(
    ({ isBeside, owner, link }) => isBeside && owner?.key === key && link !== undefined,
  );
}

/** What a tree says of a server, by `params.segment`. [AX-12-4] */
export function tellOfServer(state: TreeState, server: Server, method: string, params: JsonObject): void {
  const told = { method, params: withOrigin(params) };
  // To a tree above, no segment is the whole tree; and that is not lost with the server at its root.
  const isOfRoot = params.segment === "" && method === treeNotifications.subserverLost;
  tell(state, server, told, ({ caller }) => !(isOfRoot && caller.isParent === true));
}

/** A lost tree is told of once for all that stands below it. */
export function tellLost(state: TreeState, server: Server): void {
  tellOfServer(state, server, treeNotifications.subserverLost, lostParams(state, server));
}

/** The same where only one caller's own conversation is lost. */
export function tellLostTo(state: TreeState, server: Server, owner: Caller): void {
  const told = { method: treeNotifications.subserverLost, params: withOrigin(lostParams(state, server)) };
  const { method, params } = rooted(state.rootSegment, told);
  if (owner.isParent !== true) owner.deliver?.(method, params);
}

function lostParams({ clock }: TreeState, server: Server): JsonObject {
  const subserverId = registeredOf(server)?.subserverId;
  return {
    segment: server.segment ?? "",
    ...(subserverId !== undefined && { subserver_id: subserverId }),
    reason: "subserver_unreachable",
    since: new Date(clock.now()).toISOString(),
  };
}

export function originOf(server: Server): Origin {
  return { segment: server.segment, isTree: isTree(server), isGuest: isGuest(server) };
}

function tell(
  state: TreeState,
  server: Server,
  told: Upward,
  isMeant: (subscriber: Subscriber) => boolean,
): void {
  const route = routeIn(told.params);
  const shown = rooted(state.rootSegment, told);
  const give = inTurnsOf(state, server);
  for (const subscriber of hearers(state)) {
    const { caller, deliver } = subscriber;
    if (!isTheirs(state, server, caller) || !isMeant(subscriber) || !mayHear(state, caller, server, route))
      continue;
    const { method, params } = seesRoot(caller) ? shown : told;
    give(() => {
      if (deliver(method, params) === false) state.missedByClients += 1;
    });
  }
}

/** Many clients may get it, each at a cost: the registrant of the server pays, one client after the other. */
function inTurnsOf({ turns }: TreeState, server: Server): (work: () => void) => void {
  const payer = payerOf(server);
  if (turns === undefined || payer === undefined) return (work) => work();
  const account = turns.account(payer);
  return (work) => void turns.run(account, work);
}

/** What is said to one user is for nobody else, nor for somebody of the same name that another issuer vouches for. */
function isTheirs({ signIns }: TreeState, server: Server, caller: Caller): boolean {
  const user = userOf(server);
  if (user === undefined) return true;
  const hearer = personOf(caller);
  if (hearer === undefined || hearer.name !== user) return false;
  return (
    server.origin.kind === "sign-in" || (signIns !== undefined && isSignedIn(signIns, server.name, hearer))
  );
}

/** Each tree above once, by its newest subscription, before which the older ones end; and every client that asked. */
function hearers({ subscribers }: TreeState): Iterable<Subscriber> {
  const byKey = new Map<string | Subscriber, Subscriber>();
  for (const one of subscribers) {
    if (one.caller.isParent === true) byKey.set(one.caller.key, one);
    else if (one.granted.unasked === true) byKey.set(one, one);
  }
  return byKey.values();
}
