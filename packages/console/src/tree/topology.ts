// The tree as nodes: this gateway, the trees above it, its servers and what stands below them, its devices, and its
// rooms with those who are in them; each with how it is. Pure.
import type { Participant } from "@mcpx/client";
import {
  believedKey,
  believedOf,
  capabilityOf,
  isIrreversible,
  isObject,
  type JsonObject,
  withoutRoot,
} from "@mcpx/protocol";
import { isStarting } from "./branches.ts";

export const healths = ["up", "idle", "starting", "ailing", "degraded", "down", "unknown"] as const;
export type Health = (typeof healths)[number];

export type NodeKind =
  | "gateway"
  | "above"
  | "server"
  | "tree"
  | "part"
  | "device"
  | "room"
  | "member"
  | "more";

export interface TreeNode {
  readonly key: string;
  readonly kind: NodeKind;
  readonly name: string;
  readonly health: Health;
  /** In a word or two, beside its name: what it is, or how it is. */
  readonly word: string;
  /** Of its last calls; absent where there were none. */
  readonly latency: { p50Ms: number; p95Ms: number; calls: number } | undefined;
  /** Since the start; absent where there were none. */
  readonly calls: { answered: number; failed: number } | undefined;
  readonly tools: number | undefined;
  /** Tools that say of themselves that they cannot be undone. */
  readonly dangerous: number;
  /** Tools without annotations. */
  readonly silent: number;
  /** Calls that wait for somebody's decision. */
  readonly waiting: number;
  /** What is wrong, in words. */
  readonly fault: string | undefined;
  /** How many it stands for, where there is no room for them. */
  readonly hidden: number;
  readonly children: readonly TreeNode[];
}

interface RoomFacts {
  name: string;
  participants: number;
  state: string;
  members: readonly Participant[];
}

export interface TreeFacts {
  name: string;
  servers: readonly JsonObject[];
  /** By segment, or by name where it is at the root. */
  calls: Readonly<Record<string, { answered: number; failed: number }>>;
  tools: readonly JsonObject[];
  /** The root's, which stands first in the names of tools. */
  segment?: string | undefined;
  parents: readonly JsonObject[];
  devices: readonly JsonObject[];
  rooms: readonly RoomFacts[];
  /** The tools of calls at gates, and the rooms of proposals, that wait. */
  waiting: readonly { tool: string; topic: string | undefined }[];
}

/** Of one node; the rest is counted. */
const childrenMax = 100;
const membersMax = 12;
const depthMax = 8;
/** Of this gateway and all below it. The gateway's own fit, each with a word for what is hidden below it. */
const nodesMax = 500;
/** Of the tree itself, and of trees below. */
const ownSegment = "mcpax";

export function topologyOf(named: TreeFacts): { root: TreeNode; above: TreeNode[] } {
  const facts = withoutRootSegment(named);
  const shown = facts.servers.filter(({ name }) => name !== ownSegment);
  const places = new Set(shown.map(({ segment }) => segment));
  const toolsAt = Map.groupBy(facts.tools, ({ name }) => {
    const [first = ""] = String(name).split(".", 1);
    return places.has(first) || first === ownSegment ? first : undefined;
  });
  const servers = shown.map((server) => serverNode(server, facts, toolsAt));
  const rooms = facts.rooms.map((room) => roomNode(room, facts));
  const root = node("gateway", "gateway", facts.segment ?? facts.name, {
    health: "up",
    word: "here",
    waiting: facts.waiting.length,
    children: [...bounded(servers, childrenMax, "servers"), ...bounded(rooms, childrenMax, "rooms")],
  });
  return { root: withinTotal(root), above: facts.parents.map(aboveNode) };
}

/** Tools by the names they have inside the tree: those begin with the segment of a server. */
function withoutRootSegment(facts: TreeFacts): TreeFacts {
  const { segment, tools, waiting } = facts;
  if (segment === undefined) return facts;
  return {
    ...facts,
    tools: tools.map((tool) => ({ ...tool, name: withoutRoot(segment, String(tool.name)) })),
    waiting: waiting.map((one) => ({ ...one, tool: withoutRoot(segment, one.tool) })),
  };
}

function node(kind: NodeKind, key: string, name: string, more: Partial<TreeNode>): TreeNode {
  return {
    kind,
    key,
    name,
    health: "unknown",
    word: "",
    latency: undefined,
    calls: undefined,
    tools: undefined,
    dangerous: 0,
    silent: 0,
    waiting: 0,
    fault: undefined,
    hidden: 0,
    children: [],
    ...more,
  };
}

function serverNode(
  server: JsonObject,
  facts: TreeFacts,
  toolsAt: ReadonlyMap<string | undefined, readonly JsonObject[]>,
): TreeNode {
  const name = String(server.name);
  const segment = typeof server.segment === "string" ? server.segment : undefined;
  // One at the root has what is nobody else's.
  const own = toolsAt.get(segment) ?? [];
  const place = segment ?? name;
  const key = `s ${segment ?? ""} ${name}`;
  const device = facts.devices.find((one) => segment !== undefined && one.segment === segment);
  const kind = device !== undefined ? "device" : server.aggregator === true ? "tree" : roomOr(server);
  const health = healthOf(server);
  const below = segment === undefined ? [] : branches(own, 1, key, health);
  return node(kind, key, name, {
    health,
    word: wordOf(health, server),
    latency: latencyOf(server.latency),
    calls: Object.hasOwn(facts.calls, place) ? facts.calls[place] : undefined,
    tools: Math.max(own.length, Number(server.tools) || 0),
    ...dangersOf(own),
    waiting: facts.waiting.filter(({ tool, topic }) => topic === undefined && isBelow(tool, segment)).length,
    fault: faultOf(server, device),
    children: kind === "device" ? [] : bounded(below, childrenMax, "parts"),
  });
}

function roomOr({ room }: JsonObject): "room" | "server" {
  return typeof room === "string" ? "room" : "server";
}

function isBelow(tool: string, segment: string | undefined): boolean {
  return segment !== undefined && tool.startsWith(`${segment}.`);
}

function healthOf(server: JsonObject): Health {
  if (isStarting(server)) return "starting";
  return healths.find((known) => known === server.state) ?? "unknown";
}

function wordOf(health: Health, { state }: JsonObject): string {
  return health === "unknown" ? String(state).slice(0, 20) : health;
}

function latencyOf(figures: unknown): TreeNode["latency"] {
  if (!isObject(figures) || typeof figures.p50_ms !== "number") return undefined;
  return { p50Ms: figures.p50_ms, p95Ms: Number(figures.p95_ms), calls: Number(figures.calls) };
}

function faultOf(server: JsonObject, device: JsonObject | undefined): string | undefined {
  if (isObject(server.degraded)) return `Lost: ${String(server.degraded.reason)}`;
  if (typeof server.authorise_url === "string") return `Needs authorisation: open ${server.authorise_url}`;
  if (typeof server.fault === "string") return server.fault;
  if (isObject(server.list_faults)) {
    const [kind, why] = Object.entries(server.list_faults)[0] ?? [];
    if (kind !== undefined) return `${kind}: ${String(why)}`;
  }
  if (Array.isArray(server.quarantined) && server.quarantined.length > 0)
    return `${server.quarantined.length} changed since they were first seen`;
  return typeof device?.why === "string" ? device.why : undefined;
}

function dangersOf(tools: readonly JsonObject[]): Pick<TreeNode, "dangerous" | "silent"> {
  const said = tools.filter(saysDanger);
  return {
    dangerous: said.filter((tool) => isIrreversible(capabilityOf(asSaid(tool), true))).length,
    silent: tools.length - said.length,
  };
}

/** Without what this gateway believes of it: that is not its own word. */
function asSaid(tool: JsonObject): JsonObject {
  const { [believedKey]: _, ...meta } = isObject(tool._meta) ? tool._meta : {};
  return { ...tool, _meta: meta };
}

function saysDanger({ _meta, annotations }: JsonObject): boolean {
  return isObject(annotations) || (isObject(_meta) && isObject(_meta["x-mcpax-capability"]));
}

/** What the dotted names of tools say of what stands below; a part whose tools are all lost is lost. */
function branches(tools: readonly JsonObject[], depth: number, key: string, above: Health): TreeNode[] {
  if (depth > depthMax) return [];
  const bySegment = Map.groupBy(tools, ({ name }) => {
    const parts = String(name).split(".");
    return parts.length > depth + 1 ? parts[depth] : undefined;
  });
  return [...bySegment].flatMap(([segment, own]) => {
    if (segment === undefined || segment === ownSegment) return [];
    const health = own.every(isLost) ? "degraded" : above;
    return node("part", `${key}.${segment}`, segment, {
      health,
      word: health,
      tools: own.length,
      ...dangersOf(own),
      children: bounded(branches(own, depth + 1, `${key}.${segment}`, health), childrenMax, "parts"),
    });
  });
}

function isLost(tool: JsonObject): boolean {
  return believedOf(tool).availability === "degraded";
}

const roomHealths: Readonly<Record<string, Health>> = {
  live: "up",
  connecting: "starting",
  reconnecting: "ailing",
  closed: "down",
  failed: "down",
};

function roomNode({ name, participants, state, members }: RoomFacts, { waiting }: TreeFacts): TreeNode {
  const health = roomHealths[state] ?? "idle";
  const here = members.map(({ id, kind, privilege }) =>
    node("member", `r ${name} ${id}`, id, {
      health: "up",
      word: [kind ?? "unknown", privilege].filter((one) => one !== undefined).join(", "),
    }),
  );
  return node("room", `r ${name}`, name, {
    health,
    word: health === "idle" ? `${participants} here` : `${state}, ${participants} here`,
    waiting: waiting.filter(({ topic }) => topic === name).length,
    children: bounded(here, membersMax, "participants"),
  });
}

function aboveNode({ url, segment, state }: JsonObject): TreeNode {
  const isIn = state === "registered";
  return node("above", `a ${String(url)} ${String(segment)}`, String(url), {
    health: isIn ? "up" : "ailing",
    word: `${String(state).slice(0, 30)} as ${String(segment).slice(0, 64)}`,
  });
}

function bounded(nodes: readonly TreeNode[], max: number, what: string): TreeNode[] {
  if (nodes.length <= max) return [...nodes];
  return [...nodes.slice(0, max - 1), moreNode(nodes.slice(max - 1), what)];
}

function moreNode(hidden: readonly TreeNode[], what: string): TreeNode {
  const count = hidden.reduce((sum, one) => sum + (one.hidden || 1), 0);
  const worst = healths.findLast(
    (health) => health !== "unknown" && hidden.some((one) => one.health === health),
  );
  return node("more", `more ${what} ${hidden[0]?.key}`, `${count} more ${what}`, {
    hidden: count,
    health: worst ?? "unknown",
    word: worst === undefined || worst === "up" ? "" : `worst: ${worst}`,
    waiting: hidden.reduce((sum, { waiting }) => sum + waiting, 0),
  });
}

/** What stands nearer comes first; of what there is no room for, it is said how many there are. */
function withinTotal(root: TreeNode): TreeNode {
  const kept = new Map<TreeNode, readonly TreeNode[]>();
  let left = nodesMax - placesOf(root);
  let level: readonly TreeNode[] = [root];
  while (level.length > 0) {
    for (const one of level.filter(({ children }) => children.length > 0)) {
      // Its own word for what is hidden has a place until its children have theirs.
      const children = fitting(one.children, left + 1);
      left += 1 - placesOfAll(children);
      kept.set(one, children);
    }
    level = level.flatMap((one) => kept.get(one) ?? []);
  }
  const rebuilt = (one: TreeNode): TreeNode => ({ ...one, children: (kept.get(one) ?? []).map(rebuilt) });
  return rebuilt(root);
}

/** One for itself, and one for the word that something below it is hidden. */
function placesOf({ children }: TreeNode): number {
  return children.length > 0 ? 2 : 1;
}

function placesOfAll(nodes: readonly TreeNode[]): number {
  return nodes.reduce((sum, one) => sum + placesOf(one), 0);
}

function fitting(nodes: readonly TreeNode[], places: number): readonly TreeNode[] {
  if (placesOfAll(nodes) <= places) return nodes;
  let count = 0;
  let used = 1;
  for (const one of nodes) {
    used += placesOf(one);
    if (used > places) break;
    count += 1;
  }
  const what = nodes[0]?.kind === "member" ? "participants" : "parts";
  return [...nodes.slice(0, count), moreNode(nodes.slice(count), what)];
}
