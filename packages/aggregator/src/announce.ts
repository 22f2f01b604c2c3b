// Tells subscribers what has changed. Many changes in a short time are one piece of news.
import type { JsonObject } from "@mcpx/protocol";
import { mayUse } from "./authorise.ts";
import type { ListKind } from "./fetch-list.ts";
import { prefixUri } from "./names/uris.ts";
import { type LinkEntry, resourcesName, type Server } from "./server.ts";
import { watchOf } from "./subscriptions.ts";
import type { TreeState } from "./tree-state.ts";

const news = {
  tools: { wish: "toolsListChanged", method: "notifications/tools/list_changed" },
  prompts: { wish: "promptsListChanged", method: "notifications/prompts/list_changed" },
  resources: { wish: "resourcesListChanged", method: "notifications/resources/list_changed" },
} as const;

const gatherMs = 25;
const waiting = new WeakMap<TreeState, Set<keyof typeof news>>();

export function announceChange(state: TreeState, kind: ListKind): void {
  const gathered = waiting.get(state) ?? new Set();
  waiting.set(state, gathered);
  if (gathered.size === 0) {
    setTimeout(() => {
      const kinds = [...gathered];
      gathered.clear();
      for (const one of kinds) tellAll(state, news[one]);
    }, gatherMs).unref();
  }
  gathered.add(kind === "templates" ? "resources" : kind);
}

function tellAll({ subscribers }: TreeState, { wish, method }: (typeof news)[keyof typeof news]): void {
  for (const { granted, deliver } of subscribers) if (granted[wish] === true) deliver(method, {});
}

export function announceUpdate(state: TreeState, server: Server, entry: LinkEntry, params: JsonObject): void {
  const { uri } = params;
  if (typeof uri !== "string") return;
  for (const subscriber of state.subscribers) {
    const watch = watchOf(subscriber, server, entry, uri);
    if (watch === undefined || !mayUse(subscriber.caller, resourcesName(server))) continue;
    const shown = watch.uri === uri ? watch.written : prefixUri(server.segment, uri);
    subscriber.deliver("notifications/resources/updated", { ...params, uri: shown });
  }
}
