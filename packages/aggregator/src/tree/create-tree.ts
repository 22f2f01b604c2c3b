// The tree in one piece: its servers, and the verbs endpoints may use.
import type { Audit, Clock, Logger, SpanStarter, Turns } from "@mcpx/host";
import {
  defaultLimits,
  gatesAheadMethod,
  isDefinitionSmuggling,
  isObject,
  type JsonObject,
  type Limits,
  McpxError,
  roomMethods,
} from "@mcpx/protocol";
import { maySee } from "../catalogue/may-see.ts";
import type { PinStore } from "../catalogue/pin-store.ts";
import { createCallFigures } from "../dispatch/call-figures.ts";
import type { CallMeter } from "../dispatch/call-meter.ts";
import { confirm } from "../gates/confirm.ts";
import type { Gatekeeper } from "../gates/gatekeeper.ts";
import { tellGatesAhead } from "../gates/gates-ahead.ts";
import { endSessionGrants } from "../gates/grants/grants.ts";
import { isLogLevel, treeExtension } from "../mcp/era.ts";
import type { Caller, Exchange } from "../mcp/exchange.ts";
import type { Profile, Profiles } from "../mcp/profile.ts";
import type { Tree, TreeFacts } from "../mcp/tree.ts";
import { ownSegment } from "../names/own-segment.ts";
import { noNews } from "../notifications/announce.ts";
import { wantLogs } from "../notifications/log-levels.ts";
import type { FlowLimits } from "../notifications/notification-flow.ts";
import { createFlows } from "../notifications/notification-flows.ts";
import { createServerNews } from "../notifications/server-news.ts";
import { subscribe } from "../notifications/subscriptions.ts";
import { createDefinitionScan } from "../scanners/scan-definitions.ts";
import type { Scanner } from "../scanners/scanner.ts";
import { changeServers, type TreeChange, type TreeChanges } from "../servers/change-servers.ts";
import { createListBook, type ListBook } from "../servers/list-capacity.ts";
import type { LocalRooms, Server, ServerOptions } from "../servers/server.ts";
import { isGuest } from "../servers/server-origin.ts";
import { everyServer, type TreeState } from "../servers/tree-state.ts";
import { findServersFor, renewOwn } from "../servers/users/server-for.ts";
import type { SignInState } from "../servers/users/sign-in-state.ts";
import { type CallTraces, createCallTraces } from "../tracing/call-traces.ts";
import { callTool } from "../verbs/call-tool.ts";
import { complete } from "../verbs/complete.ts";
import { getPrompt } from "../verbs/get-prompt.ts";
import { list } from "../verbs/list.ts";
import { readResource } from "../verbs/read-resource.ts";
import { callSearchTool, isSearchTool, listSearchTools } from "../verbs/search-tools.ts";
import { handleTask, isTaskMethod } from "../verbs/tasks.ts";
import { createBuiltInServer } from "./built-in-server.ts";

export interface TreeOptions {
  name: string;
  version: string;
  /** Our own segment; a root may do without. [AX-3.1-1] */
  segment?: string | undefined;
  /** It registers with trees above: they put our segment before our names. */
  hasParents?: boolean | undefined;
  /** Wall clock ms; in tokens issued before, the root segment is read as the segment of a server. 0 unless given. */
  rootSince?: number | undefined;
  servers: readonly ServerOptions[];
  profiles?: readonly Profile[] | undefined;
  clock: Clock;
  log: Logger;
  audit?: Audit | undefined;
  /** Where calls are counted for machines; nowhere unless given. */
  meter?: CallMeter | undefined;
  /** Of OpenTelemetry: calls leave traces there, and none unless given. */
  tracer?: SpanStarter | undefined;
  /** What looks at results before callers do; nothing unless given. */
  scanners?: readonly Scanner[] | undefined;
  /** Without a pin store tools may change unseen. */
  pins?: PinStore | undefined;
  secret: Uint8Array;
  /** How long the tools of a lost server stay listed; 0 is not at all. */
  graceMs?: number | undefined;
  /** Where calls wait for a human; without it none does. */
  gates?: Gatekeeper | undefined;
  /** How many notifications of a server go upward. */
  notifications?: Partial<FlowLimits> | undefined;
  /** Who is signed in to servers that everybody uses in their own name. */
  signIns?: SignInState | undefined;
  /** How much memory lists may take, and how much of the disk pins. */
  limits?: (ListLimits & PinLimits) | undefined;
  /** The book of that, where several trees share one. */
  listCapacity?: ListBook | undefined;
  /** Only carries another tree's names on: no tools of its own. */
  isBridge?: boolean | undefined;
  /** Shares the process's time among principals. */
  turns?: Turns | undefined;
  /** The rooms of this process, for servers that are one. */
  rooms?: LocalRooms | undefined;
}

export type ListLimits = Pick<
  Limits,
  "listBytesPerServerMax" | "listBytesPerPrincipalMax" | "listBytesMax" | "factsBytesMax"
>;

type PinLimits = Pick<Limits, "pinnedCharsPerServerMax" | "pinnedCharsPerPrincipalMax" | "pinnedCharsMax">;

function pinRoomOf(limits: PinLimits): TreeState["pinRoom"] {
  const { pinnedCharsPerServerMax, pinnedCharsPerPrincipalMax, pinnedCharsMax } = limits;
  return {
    perServerMax: pinnedCharsPerServerMax,
    perPrincipalMax: pinnedCharsPerPrincipalMax,
    max: pinnedCharsMax,
  };
}

export function createListCapacity(limits: ListLimits): ListBook {
  const { listBytesPerServerMax, listBytesPerPrincipalMax, listBytesMax, factsBytesMax } = limits;
  return createListBook({
    perServerMax: listBytesPerServerMax,
    perPrincipalMax: listBytesPerPrincipalMax,
    max: listBytesMax,
    factsMax: factsBytesMax,
  });
}

function tracesOf({ tracer, gates }: TreeOptions): CallTraces | undefined {
  const traces = tracer && createCallTraces(tracer);
  if (traces !== undefined) gates?.watchers.add(traces.watcher);
  return traces;
}

export interface RunningTree extends Tree {
  readonly state: TreeState;
  readonly profiles: Profiles;
  /** From now on these servers and profiles; says what that changed. */
  change(change: TreeChange): TreeChanges;
  /** Ends every conversation and every child. */
  close(): Promise<void>;
}

const graceMsDefault = 300_000;

export function createTree(options: TreeOptions): RunningTree {
  const { name, version, segment, clock, log, audit, pins, secret } = options;
  const bySegment = new Map<string, Server>();
  const state: TreeState = {
    name,
    version,
    segment,
    rootSegment: options.hasParents === true || options.isBridge === true ? undefined : segment,
    rootSince: options.rootSince ?? 0,
    bySegment,
    events: createServerNews(() => state),
    parents: () => [],
    payerOf: () => undefined,
    root: undefined,
    isPersonal: false,
    configured: new Map(),
    leaving: new Set(),
    profiles: new Map(),
    subscribers: new Set(),
    directories: new Map(),
    gatheredNews: noNews(),
    flows: createFlows(options.notifications),
    clock,
    log,
    audit,
    calls: createCallFigures(clock.now()),
    meter: options.meter,
    traces: tracesOf(options),
    scanners: options.scanners ?? [],
    scanDefinitions: createDefinitionScan(),
    missedByClients: 0,
    logLevels: new Map(),
    pins,
    pinRoom: pinRoomOf(options.limits ?? defaultLimits),
    listCapacity: options.listCapacity ?? createListCapacity(options.limits ?? defaultLimits),
    secret,
    graceMs: options.graceMs ?? graceMsDefault,
    isBridge: options.isBridge === true,
    turns: options.turns,
    rooms: options.rooms,
    gates: options.gates,
    signIns: options.signIns,
    isClosed: false,
    closing: new AbortController(),
  };
  if (!state.isBridge)
    bySegment.set(
      ownSegment,
      createBuiltInServer(() => state),
    );
  const source = () => everyServer(state);
  state.listCapacity.sources.add(source);
  changeServers(state, options);
  state.signIns?.listeners.add((change) => renewOwn(state, change));
  return {
    state,
    profiles: state.profiles,
    change: (change) => changeServers(state, change),
    describe: async (caller) => describe(state, caller),
    handle: (exchange) => handle(state, exchange),
    subscribe: (caller, wishes, deliver) => subscribe(state, caller, wishes, deliver),
    tell: (caller, method, params) => tell(state, caller, method, params),
    leave: (caller) => leave(state, caller),
    async close() {
      state.listCapacity.sources.delete(source);
      await close(state);
    },
  };
}

/** One switch for every request of a client. */
/** With a trace where one is wanted. Calls of tools have theirs in `call-tool.ts`. */
function traced(
  { traces }: TreeState,
  exchange: Exchange,
  name: unknown,
  run: () => Promise<JsonObject>,
): Promise<JsonObject> {
  if (traces === undefined) return run();
  return traces.call(exchange, typeof name === "string" ? name.slice(0, 255) : undefined, run);
}

async function handle(state: TreeState, exchange: Exchange): Promise<JsonObject> {
  const { method } = exchange;
  switch (method) {
    case "tools/call":
      return isSearchTool(exchange) ? callSearchTool(state, exchange) : callTool(state, exchange);
    case "tools/list":
      if (exchange.caller.profile?.search === true) return listSearchTools();
      return list(state, exchange, "tools");
    case "prompts/list":
      return list(state, exchange, "prompts");
    case "prompts/get":
      return traced(state, exchange, exchange.params.name, () => getPrompt(state, exchange));
    case "resources/list":
      return list(state, exchange, "resources");
    case "resources/templates/list":
      return list(state, exchange, "templates");
    case "resources/read":
      return traced(state, exchange, undefined, () => readResource(state, exchange));
    case "completion/complete":
      return traced(state, exchange, undefined, () => complete(state, exchange));
    case roomMethods.confirmGate:
      if (state.gates !== undefined) return confirm(state, state.gates, exchange);
      throw new McpxError("unknown_method", method);
    case gatesAheadMethod:
      if (state.gates !== undefined) return tellGatesAhead(state, state.gates, exchange);
      throw new McpxError("unknown_method", method);
    default:
      if (isTaskMethod(exchange)) return handleTask(state, exchange);
      throw new McpxError("unknown_method", method.slice(0, 100));
  }
}

const instructionCharsMax = 4_000;

/** What is known now, of the servers this caller may use: no client waits at the endpoint for a slow one. */
function describe(state: TreeState, caller: Caller): TreeFacts {
  // What only carries another's names on is no tree of its own.
  const extensions: JsonObject = state.isBridge ? {} : { [treeExtension]: { version: state.version } };
  const instructions: string[] = [];
  const servers = findServersFor(state, caller).filter((server) => maySee(state, caller, server));
  // Text of a guest would speak to every model at once, and its extensions in the tree's own name. [B-REG-1]
  for (const { facts, segment } of servers.filter((server) => !isGuest(server))) {
    if (isObject(facts?.capabilities.extensions)) {
      for (const [key, value] of Object.entries(facts.capabilities.extensions)) extensions[key] ??= value;
    }
    if (facts?.instructions === undefined || isDefinitionSmuggling({ instructions: facts.instructions }))
      continue;
    const text = facts.instructions.slice(0, instructionCharsMax);
    instructions.push(segment === undefined ? text : `# ${segment}\n\n${text}`);
  }
  const hasTasks = servers.some(({ facts }) => isObject(facts?.capabilities.tasks));
  return {
    info: { name: state.name, version: state.version },
    capabilities: {
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
      logging: {},
      completions: {},
      ...(hasTasks && { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } }),
      extensions,
    },
    instructions: instructions.length === 0 ? undefined : instructions.join("\n\n"),
  };
}

/** To the conversations that are this caller's own; a level counts for those it shares, too. */
function tell(state: TreeState, caller: Caller, method: string, params: JsonObject): void {
  if (method === "logging/setLevel") {
    if (isLogLevel(params.level)) wantLogs(state, caller, params.level);
    return;
  }
  for (const { links } of everyServer(state)) {
    for (const { owner, link } of links.values()) {
      if (owner?.key === caller.key) link?.notify(method, params);
    }
  }
}

function leave(state: TreeState, caller: Caller): void {
  wantLogs(state, caller, undefined);
  if (state.gates !== undefined) endSessionGrants(state.gates.grants, caller.key);
  for (const { links } of everyServer(state)) {
    for (const [key, entry] of links) {
      if (entry.owner?.key !== caller.key) continue;
      links.delete(key);
      void entry.opening.then((link) => link.close()).catch(() => {});
    }
  }
}

async function close(state: TreeState): Promise<void> {
  state.isClosed = true;
  state.closing.abort(new McpxError("draining"));
  const entries = [...everyServer(state), ...state.leaving].flatMap(({ links }) => [...links.values()]);
  await Promise.allSettled([...new Set(entries)].map(async ({ opening }) => (await opening).close()));
}
