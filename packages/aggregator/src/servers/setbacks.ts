// What went wrong in the conversations that one principal has to itself with a server: a child that its calls end again
// and again, an `initialize` that the server refuses because of what its client says of itself. It is that principal who
// waits then, and nobody else.
import { backoffMs, McpxError } from "@mcpx/protocol";
import type { Caller } from "../mcp/exchange.ts";
import { principalName } from "../mcp/plain-caller.ts";
import { type CrashLoop, noteDeath } from "./crash-loop.ts";
import type { Server } from "./server.ts";

export interface Setback {
  /** No conversation of its own is opened before this (monotonic ms); it may use another meanwhile. */
  notBefore: number;
  /** Openings in a row that have failed. */
  failures: number;
  /** Its children end again and again: until then it gets none, and is not let near anybody else's (monotonic ms). */
  brokenUntil: number;
  why: string;
  readonly crashLoop: CrashLoop;
}

/** Of one server. */
const setbacksMax = 256;

export function setbackOf({ setbacks }: Server, { principal }: Caller): Setback {
  const name = principalName(principal);
  const known = setbacks.get(name);
  const setback = known ?? {
    notBefore: Number.NEGATIVE_INFINITY,
    failures: 0,
    brokenUntil: Number.NEGATIVE_INFINITY,
    why: "",
    crashLoop: { deaths: [], trips: 0 },
  };
  const [oldest] = setbacks.keys();
  if (known === undefined && setbacks.size >= setbacksMax && oldest !== undefined) setbacks.delete(oldest);
  // The newest at the end.
  setbacks.delete(name);
  setbacks.set(name, setback);
  return setback;
}

/** Throws `server_unreachable` where this caller's children have ended too often. */
export function checkSetback(server: Server, caller: Caller, now: number): void {
  if (server.setbacks.size === 0) return;
  const { brokenUntil, why } = setbackOf(server, caller);
  if (now >= brokenUntil) return;
  const retryAfterMs = Math.ceil(brokenUntil - now);
  throw new McpxError("server_unreachable", `${server.name}: ${why}`, { retryAfterMs });
}

const backoff = { minMs: 1_000, maxMs: 60_000 };

/** The server does not want to talk to this client. */
export function noteRefusal(server: Server, owner: Caller, detail: string, now: number): void {
  const setback = setbackOf(server, owner);
  setback.failures += 1;
  setback.brokenUntil = now + backoffMs(setback.failures - 1, backoff);
  const named = `${server.name}: `;
  setback.why = detail.startsWith(named) ? detail.slice(named.length) : detail;
}

/** A child of its own has ended, so long after its beginning; says how long there is no other. */
export function noteOwnDeath(
  server: Server,
  owner: Caller,
  { now, livedMs, why }: { now: number; livedMs: number; why: string },
): number | undefined {
  const setback = setbackOf(server, owner);
  const waitMs = noteDeath(setback.crashLoop, now, livedMs);
  if (waitMs === undefined) return undefined;
  setback.brokenUntil = now + waitMs;
  setback.why = `it ends again and again, last with ${why}`;
  return waitMs;
}
