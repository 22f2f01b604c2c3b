// Tells subscribers what has changed. Many changes in a short time are one piece of news.
import type { JsonObject } from "@mcpx/protocol";
import { mayUse } from "../catalogue/authorise.ts";
import { seesRoot } from "../catalogue/directory.ts";
import type { ListKind } from "../mcp/list-kinds.ts";
import { rooted, upward } from "../names/upward.ts";
import { prefixUri } from "../names/uris.ts";
import type { LinkEntry } from "../servers/link-entry.ts";
import { resourcesName, type Server } from "../servers/server.ts";
import type { TreeState } from "../servers/tree-state.ts";
import { personOf } from "../servers/users/person.ts";
import { watchOf } from "./subscriptions.ts";
import { originOf } from "./tell.ts";

const news = {
  tools: { wish: "toolsListChanged", method: "notifications/tools/list_changed" },
  prompts: { wish: "promptsListChanged", method: "notifications/prompts/list_changed" },
  resources: { wish: "resourcesListChanged", method: "notifications/resources/list_changed" },
} as const;

const updated = "notifications/resources/updated";
/** Changes within this time are one piece of news. */
const gatherMs = 25;
/**
 * Told at once so many times, and then once a second: every client lists everything again when it is told, and a server
 * may change at each of their lists.
 */
const promptMax = 20;
const refillMs = 1_000;

export interface GatheredNews {
  /** Whom each kind of news is for: everybody, or these people and callers. */
  readonly waiting: Map<keyof typeof news, Whom | "everybody">;
  /** How often changes may still be told at once, as of `at` (monotonic ms); below 0 they have to wait. */
  prompt: number;
  at: number;
}
interface Whom {
  people: Set<string>;
  callerKeys: Set<string>;
}

export function noNews(): GatheredNews {
  return { waiting: new Map(), prompt: promptMax, at: 0 };
}

/** `person`, `callerKey`: the only one whose list it is. */
export function announceChange(
  state: TreeState,
  kind: ListKind,
  person?: string | undefined,
  callerKey?: string | undefined,
): void {
  const { waiting } = state.gatheredNews;
  if (waiting.size === 0) gather(state);
  const told = kind === "templates" ? "resources" : kind;
  const whom = waiting.get(told);
  if ((person === undefined && callerKey === undefined) || whom === "everybody") {
    waiting.set(told, "everybody");
    return;
  }
  const { people, callerKeys } = whom ?? { people: new Set(), callerKeys: new Set() };
  if (callerKey !== undefined) callerKeys.add(callerKey);
  else if (person !== undefined) people.add(person);
  waiting.set(told, { people, callerKeys });
}

function gather(state: TreeState): void {
  const { gatheredNews: gathered, clock } = state;
  const now = clock.monotonic();
  gathered.prompt = Math.min(promptMax, gathered.prompt + (now - gathered.at) / refillMs) - 1;
  gathered.at = now;
  setTimeout(
    () => {
      const all = [...gathered.waiting];
      gathered.waiting.clear();
      for (const [one, whom] of all) tell(state, news[one], whom);
    },
    gatherMs + Math.max(0, -gathered.prompt) * refillMs,
  ).unref();
}

function tell(
  { subscribers }: TreeState,
  { wish, method }: (typeof news)[keyof typeof news],
  whom: Whom | "everybody",
): void {
  for (const { caller, granted, deliver } of subscribers) {
    const isMeant =
      whom === "everybody" ||
      whom.people.has(personOf(caller)?.name ?? "") ||
      whom.callerKeys.has(caller.key);
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
    const told = upward(originOf(server), updated, { ...params, uri: shown });
    const isRooted = seesRoot(subscriber.caller);
    subscriber.deliver(updated, (isRooted ? rooted(state.rootSegment, told) : told).params);
  }
}
