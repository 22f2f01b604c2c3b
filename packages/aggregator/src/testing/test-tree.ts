// A tree for tests, and exchanges as an endpoint would make them.
import {
  type Audit,
  createLogger,
  createManualClock,
  type ManualClock,
  type Principal,
  systemClock,
  type Turns,
} from "@mcpx/host";
import type { JsonObject } from "@mcpx/protocol";
import type { PinStore } from "../catalogue/pin-store.ts";
import type { Gatekeeper } from "../gates/gatekeeper.ts";
import type { Answers, Caller, Exchange, Questions } from "../mcp/exchange.ts";
import type { Profile } from "../mcp/profile.ts";
import type { FlowLimits } from "../notifications/notification-flow.ts";
import type { ServerOptions } from "../servers/server.ts";
import { createTree, type RunningTree } from "../tree/create-tree.ts";

export interface TestTree {
  tree: RunningTree;
  clock: ManualClock;
  /** Sends a request as this caller and gives back its result. */
  ask(method: string, params?: JsonObject, more?: Partial<TestExchange>): Promise<JsonObject>;
}

export interface TestExchange {
  caller: Partial<Caller>;
  tools: readonly string[];
  principal: Partial<Principal>;
  answer(questions: Questions): Promise<Answers> | Answers;
  notified: [string, JsonObject][];
  signal: AbortSignal;
  wantsProgress: boolean;
  paramHeaders: Readonly<Record<string, string>>;
}

export function testTree(
  servers: readonly ServerOptions[],
  options: {
    segment?: string;
    hasParents?: boolean;
    rootSince?: number;
    profiles?: readonly Profile[];
    isRealTime?: boolean;
    pins?: PinStore;
    audit?: Audit;
    graceMs?: number | undefined;
    gates?: Gatekeeper | undefined;
    notifications?: Partial<FlowLimits>;
    turns?: Turns | undefined;
  } = {},
): TestTree {
  const clock = createManualClock();
  const tree = createTree({
    name: "test",
    version: "1.0.0",
    segment: options.segment,
    hasParents: options.hasParents,
    rootSince: options.rootSince,
    profiles: options.profiles,
    servers,
    clock: options.isRealTime === true ? systemClock : clock,
    log: createLogger({ level: "silent" }),
    pins: options.pins,
    audit: options.audit,
    graceMs: options.graceMs,
    gates: options.gates,
    notifications: options.notifications,
    turns: options.turns,
    secret: new Uint8Array(32).fill(7),
  });
  return {
    tree,
    clock,
    ask: (method, params = {}, more = {}) => tree.handle(exchangeOf(method, params, more)),
  };
}

export function callerOf(more: Partial<TestExchange> = {}): Caller {
  const principal = {
    id: "agent",
    issuer: "test",
    topics: [],
    tools: more.tools ?? ["**"],
    levelMax: "full",
    admin: false,
    expiresAt: Number.POSITIVE_INFINITY,
    jti: "j",
    tokenHash: "h",
    ...more.principal,
  } as Principal;
  return {
    principal,
    key: "agent",
    era: "modern",
    capabilities: {},
    info: undefined,
    dialect: "canonical",
    profile: undefined,
    logLevel: undefined,
    ...more.caller,
  };
}

function exchangeOf(method: string, params: JsonObject, more: Partial<TestExchange> = {}): Exchange {
  return {
    caller: callerOf(more),
    method,
    params,
    wantsProgress: more.wantsProgress ?? false,
    paramHeaders: more.paramHeaders,
    signal: more.signal ?? new AbortController().signal,
    notify: (what, about) => void more.notified?.push([what, about]),
    async ask(questions) {
      if (more.answer === undefined) throw new Error("nobody answers");
      return await more.answer(questions);
    },
  };
}
