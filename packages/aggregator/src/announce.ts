// Tells subscribers what has changed, and the trees above us what is said below. Many changes in a short time are one
// piece of news.
import type { JsonObject } from "@mcpx/protocol";
import { mayUse } from "./authorise.ts";
import type { ListKind } from "./fetch-list.ts";
import { maySee } from "./may-see.ts";
import { prefixUri } from "./names/uris.ts";
import { personOf } from "./people/person.ts";
import { isTree, type LinkEntry, resourcesName, type Server } from "./server.ts";
import { type Subscriber, watchOf } from "./subscriptions.ts";
import type { TreeState } from "./tree-state.ts";
import { type Origin, upward, withOrigin } from "./upward.ts";

const news = {
  tools: { wish: "toolsListChanged", method: "notifications/tools/list_changed" },
  prompts: { wish: "promptsListChanged", method: "notifications/prompts/list_changed" },
  resources: { wish: "resourcesListChanged", method: "notifications/resources/list_changed" },
} as const;

const updated = "notifications/resources/updated";
const gatherMs = 25;

/** Whom each kind of news is for: everybody, or these. */
type Gathered = Map<keyof typeof news, Set<string> | "everybody">;
const waiting = new WeakMap<TreeState, Gathered>();

/** `person`: the only one whose list it is. */
export function announceChange(state: TreeState, kind: ListKind, person?: string): void {
  const gathered: Gathered = waiting.get(state) ?? new Map();
  waiting.set(state, gathered);
  if (gathered.size === 0) {
    setTimeout(() => {
      const all = [...gathered];
      gathered.clear();
      for (const [one, whom] of all) tell(state, news[one], whom);
    }, gatherMs).unref();
  }
  const told = kind === "templates" ? "resources" : kind;
  const whom = gathered.get(told);
  if (person === undefined || whom === "everybody") gathered.set(told, "everybody");
  else gathered.set(told, (whom ?? new Set()).add(person));
}

function tell(
  { subscribers }: TreeState,
  { wish, method }: (typeof news)[keyof typeof news],
  whom: Set<string> | "everybody",
): void {
  for (const { caller, granted, deliver } of subscribers) {
    const isMeant = whom === "everybody" || whom.has(personOf(caller)?.name ?? "");
    if (isMeant && granted[wish] === true) deliver(method, {});
  }
}

export function announceUpdate(state: TreeState, server: Server, entry: LinkEntry, params: JsonObject): void {
  const { uri } = params;
  if (typeof uri !== "string") return;
  for (const subscriber of state.subscribers) {
    const watch = watchOf(subscriber, server, entry, uri);
    if (watch === undefined || !mayUse(state, subscriber.caller, resourcesName(server))) continue;
    const shown = watch.uri === uri ? watch.written : prefixUri(server.segment, uri);
    const told = { ...params, uri: shown };
    const isParent = subscriber.caller.isParent === true;
    subscriber.deliver(updated, isParent ? upward(originOf(server), updated, told).params : told);
  }
}

/** What a server said, to the trees above that may know of it. [AX-12-1] */
export function tellUpward(state: TreeState, server: Server, method: string, params: JsonObject): void {
  const told = upward(originOf(server), method, params);
  for (const { caller, deliver } of parentsOf(state)) {
    if (maySee(state, caller, server)) deliver(told.method, told.params);
  }
}

/** What a tree says of a server, by `params.segment`, to the trees above that may know of it. [AX-12-4] */
export function tellParents(state: TreeState, method: string, params: JsonObject): void {
  const told = withOrigin(params);
  const [first] = typeof params.segment === "string" ? params.segment.split(".") : [];
  const server = (first === undefined ? undefined : state.bySegment.get(first)) ?? state.root;
  for (const { caller, deliver } of parentsOf(state)) {
    const isTold =
      server === undefined
        ? mayUse(state, caller, resourcesName({ segment: first }))
        : maySee(state, caller, server);
    if (isTold) deliver(method, told);
  }
}

export function originOf(server: Server): Origin {
  return { segment: server.segment, isTree: isTree(server) };
}

/** Each once, however much it subscribes to: by its newest subscription, before which the older ones end. */
function parentsOf({ subscribers }: TreeState): Iterable<Subscriber> {
  const byKey = new Map<string, Subscriber>();
  for (const one of subscribers) if (one.caller.isParent === true) byKey.set(one.caller.key, one);
  return byKey.values();
}
