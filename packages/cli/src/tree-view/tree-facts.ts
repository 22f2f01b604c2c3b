// What is said of one server in a drawing of the tree: beside its name, and in the lines below it. Pure.
import { isObject, type JsonObject } from "@mcpx/protocol";
import { visible } from "../framework/visible.ts";

/** Of one server, that are named. */
const pidsMax = 4;
/** Fewer say nothing about a p95. */
const callsMin = 20;
/** `2026-11-16 ` */
const dayChars = 11;

export function countText(count: number): string {
  return `${count} tool${count === 1 ? "" : "s"}`;
}

/** `registered (write)`, with the name it has proven; nothing of servers that are configured. */
export function registrationText({ registered, scope, proven, authority }: JsonObject): string | undefined {
  if (registered !== true) return undefined;
  const parts = [
    typeof authority === "string" ? authority : undefined,
    String(scope),
    proven === true ? undefined : "not proven",
  ];
  return visible(`registered (${parts.filter((part) => part !== undefined).join(", ")})`);
}

/** How slow its calls were. */
export function latencyFigure({ latency }: JsonObject): string | undefined {
  if (!isObject(latency) || !(Number(latency.calls) >= callsMin)) return undefined;
  return `p95 ${Number(latency.p95_ms)} ms`;
}

/** Of a server that users sign in to themselves. */
export function usersText({ users }: JsonObject): string | undefined {
  if (typeof users !== "number") return undefined;
  return users === 1 ? "1 user is signed in" : `${users} users are signed in`;
}

export function heardText({ heartbeat }: JsonObject): string | undefined {
  if (!isObject(heartbeat) || Number(heartbeat.interval_ms) === 0) return undefined;
  return `last heartbeat ${(Number(heartbeat.last_ms_ago) / 1_000).toFixed(1)} s ago`;
}

/** Its processes, and what they use where that is known. */
export function usageText({ processes }: JsonObject): string | undefined {
  const children = Array.isArray(processes) ? processes.filter(isObject) : [];
  const [first] = children;
  if (first === undefined) return undefined;
  const pids = children.map(({ pid }) => Number(pid)).join(" ");
  const isFew = children.length <= pidsMax;
  const who = children.length === 1 ? `pid ${pids}` : isFew ? `pids ${pids}` : `${children.length} processes`;
  if (children.some(({ memory_bytes }) => typeof memory_bytes !== "number")) return who;
  const sum = (key: string) => children.reduce((all, child) => all + Number(child[key]), 0);
  const megabytes = Math.round(sum("memory_bytes") / 1_048_576);
  return `${who}, ${megabytes} MB, ${(sum("cpu_ms") / 1_000).toFixed(1)} s CPU`;
}

const limits = [
  ["max_calls_per_minute", "calls in a minute"],
  ["max_mutable_calls_per_session", "changes"],
  ["max_cost_units_per_session", "cost units"],
] as const;

export interface BudgetText {
  text: string;
  /** One of them is used up. */
  isSpent: boolean;
}

/** `budget: 3 of 60 calls in a minute, 2 of 10 changes` */
export function budgetText({ budget }: JsonObject): BudgetText | undefined {
  if (!isObject(budget)) return undefined;
  const known = limits.flatMap(([key, what]) => {
    const { [key]: one } = budget;
    return isObject(one) ? [{ what, used: Number(one.used), limit: Number(one.limit) }] : [];
  });
  if (known.length === 0) return undefined;
  return {
    text: `budget: ${known.map(({ what, used, limit }) => `${used} of ${limit} ${what}`).join(", ")}`,
    isSpent: known.some(({ used, limit }) => used >= limit),
  };
}

/** What is wrong with it. */
export function troubles(server: JsonObject): string[] {
  const lines: string[] = [];
  if (typeof server.sign_in_url === "string") lines.push(visible(`sign in at ${server.sign_in_url}`));
  if (server.state === "degraded" && isObject(server.degraded)) {
    const { since, until, reason } = server.degraded;
    const [from, to] = [timeText(since), timeText(until)];
    const end = to.slice(0, dayChars) === from.slice(0, dayChars) ? to.slice(dayChars) : to;
    lines.push(visible(`lost at ${from}, listed until ${end}: ${reason}`));
  } else if (typeof server.authorise_url === "string") {
    lines.push(visible(`needs authorisation: open ${server.authorise_url}`));
  } else if (typeof server.fault === "string") lines.push(visible(server.fault));
  else if (typeof server.last_loss === "string") {
    lines.push(visible(`ended at ${timeText(server.last_loss_at)}: ${server.last_loss}`));
  }
  // What is down lists nothing either, for the same reason.
  const isThere =
    typeof server.fault !== "string" &&
    typeof server.authorise_url !== "string" &&
    server.state !== "degraded";
  if (isObject(server.list_faults) && isThere) {
    for (const [kind, fault] of Object.entries(server.list_faults)) lines.push(visible(`${kind}: ${fault}`));
  }
  if (Array.isArray(server.left_out))
    lines.push(...server.left_out.map((one) => visible(`left out: ${one}`)));
  if (Array.isArray(server.quarantined))
    lines.push(
      ...server.quarantined.map((one) => visible(`has changed: ${one}; see mcpx tools diff ${one}`)),
    );
  if (Array.isArray(server.override_faults))
    lines.push(
      ...server.override_faults.map((one) => visible(`configured, but there is no such tool: ${one}`)),
    );
  return lines;
}

function timeText(time: unknown): string {
  return String(time).slice(0, 19).replace("T", " ");
}
