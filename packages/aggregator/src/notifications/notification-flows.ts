// The flows of a tree's servers: the clock and the timers they need, and the count of what they drop. By segment, so
// that a server which comes back has no new allowance and its old words go first.
import { type JsonObject, treeNotifications } from "@mcpx/protocol";
import { bytesOf } from "../catalogue/item-size.ts";
import type { Server } from "../servers/server.ts";
import { isGuest } from "../servers/server-origin.ts";
import type { TreeState } from "../servers/tree-state.ts";
import { defaultFlowLimits, type FlowLimits, NotificationFlow } from "./notification-flow.ts";
import { tellOfServer } from "./tell.ts";

type Pass = () => void;

interface Running {
  readonly segment: string;
  /** The last one that had the segment. */
  server: Server;
  readonly flow: NotificationFlow<Pass>;
  timer: NodeJS.Timeout | undefined;
  /** Of what it dropped, how much has been counted. */
  counted: number;
}

export interface Flows {
  /** For servers without limits of their own. */
  readonly limits: FlowLimits;
  readonly running: Map<string, Running>;
  /** By segment, since the tree began. */
  readonly dropped: Map<string, number>;
  droppedTotal: number;
  /** Dropped and not told of yet, by segment. */
  readonly untold: Map<string, number>;
}

const tellMs = 1_000;
const segmentsMax = 10_000;
/** Trees' own words are few and none may be lost in a storm of others: they do not wait in line with those. [AX-12-4] */
const treeWordFactor = 10;

export function createFlows(limits: Partial<FlowLimits> = {}): Flows {
  return {
    limits: { ...defaultFlowLimits, ...limits },
    running: new Map(),
    dropped: new Map(),
    droppedTotal: 0,
    untold: new Map(),
  };
}

/** Calls `pass` when this server's turn has come, unless it is dropped. */
export function passNotification(state: TreeState, server: Server, params: JsonObject, pass: Pass): void {
  passThrough(state, runningOf(state, server, "", limitsOf(state, server)), params, pass);
}

/** The same for what a tree below says of its servers. */
export function passTreeWord(state: TreeState, server: Server, params: JsonObject, pass: Pass): void {
  const limits = limitsOf(state, server);
  const ratePerSecond = limits.ratePerSecond * treeWordFactor;
  passThrough(state, runningOf(state, server, "tree ", { ...limits, ratePerSecond }), params, pass);
}

/** What `mcpax.notifications_dropped` shows. [AX-12-7] */
export function notificationsDropped({ flows, missedByClients }: TreeState): JsonObject {
  return {
    total: flows.droppedTotal,
    subservers: Object.fromEntries(flows.dropped),
    missed_by_clients: missedByClients,
  };
}

/** What a guest says at once, at the most: everybody who listens is sent it. [B-REG-1] */
const guestBytesMax = 65_536;

/** The server's own, else those of the tree. [AX-12-2] [AX-12-6] */
function limitsOf({ flows: { limits } }: TreeState, server: Server): FlowLimits {
  const { notifications } = server;
  if (notifications === undefined && !isGuest(server)) return limits;
  const bytesMax = isGuest(server) ? Math.min(limits.bytesMax, guestBytesMax) : limits.bytesMax;
  return { ...limits, bytesMax, ...notifications };
}

function runningOf(state: TreeState, server: Server, kind: string, limits: FlowLimits): Running {
  const { running } = state.flows;
  const segment = server.segment ?? "";
  const key = `${kind}${segment}`;
  const known = running.get(key);
  if (known !== undefined) {
    if (known.server !== server) known.flow.limits = limits;
    known.server = server;
    return known;
  }
  const now = state.clock.monotonic();
  for (const [other, { flow }] of running) if (flow.isIdle(now)) running.delete(other);
  const made = { segment, server, flow: new NotificationFlow<Pass>(limits), timer: undefined, counted: 0 };
  running.set(key, made);
  return made;
}

function passThrough(state: TreeState, running: Running, params: JsonObject, pass: Pass): void {
  const { flow } = running;
  const bytes = bytesOf(params);
  if (bytes === undefined) flow.refuse();
  else if (flow.offer(pass, bytes, state.clock.monotonic())) pass();
  countDropped(state, running);
  arm(state, running);
}

function arm(state: TreeState, running: Running): void {
  if (running.timer !== undefined) return;
  const waitMs = running.flow.waitMs(state.clock.monotonic());
  if (waitMs === undefined) return;
  running.timer = setTimeout(() => release(state, running), Math.max(1, Math.ceil(waitMs))).unref();
}

function release(state: TreeState, running: Running): void {
  running.timer = undefined;
  if (state.isClosed) return;
  const now = state.clock.monotonic();
  for (let pass = running.flow.take(now); pass !== undefined; pass = running.flow.take(now)) {
    try {
      pass();
    } catch (error) {
      // Whatever a server says must not end more than what it was for.
      state.log.error({ err: error, segment: running.segment }, "could not pass on a notification");
    }
  }
  arm(state, running);
}

function countDropped(state: TreeState, running: Running): void {
  const { flow, segment } = running;
  const count = flow.dropped - running.counted;
  if (count === 0) return;
  running.counted = flow.dropped;
  const { flows } = state;
  const { dropped, untold } = flows;
  flows.droppedTotal += count;
  dropped.set(segment, (dropped.get(segment) ?? 0) + count);
  const [oldest] = dropped.keys();
  if (dropped.size > segmentsMax && oldest !== undefined) dropped.delete(oldest);
  if (!untold.has(segment)) setTimeout(() => tell(state, running), tellMs).unref();
  untold.set(segment, (untold.get(segment) ?? 0) + count);
}

/** At most once a second of each server. [AX-12-8] */
function tell(state: TreeState, { segment, server }: Running): void {
  const { dropped, untold } = state.flows;
  const count = untold.get(segment) ?? 0;
  untold.delete(segment);
  if (state.isClosed) return;
  const total = dropped.get(segment) ?? count;
  state.log.warn({ segment, dropped: count, total }, "server sends too many notifications; some dropped");
  tellOfServer(state, server, treeNotifications.notificationOverflow, {
    segment,
    dropped: count,
    dropped_total: total,
  });
}
