// Watching a room for as long as it takes: comes back after losses, exactly where it was, and stops where coming
// back is not wanted. Not with the client SDK, for two reasons: `tail --json` prints every text as it came, also what
// the client keeps to itself, and a watcher follows a gateway that comes back at another port.
import { setTimeout as wait } from "node:timers/promises";
import { backoffMs, closeCodes, isObject, type JsonObject, mayComeBack } from "@mcpx/protocol";
import type { GatewayAccess } from "../access/gateway-access.ts";
import { endFailure } from "../access/room-end.ts";
import { Failure } from "../framework/failure.ts";
import { connectRoom, type RoomEnd, type RoomSocket } from "./room-socket.ts";

export interface RoomWatcher {
  /** Every text as it came, and what it says; the welcome too. */
  text(text: string, envelope: JsonObject): void;
  lost(end: RoomEnd | undefined, retryMs: number): void;
}

export interface FollowOptions {
  topic: string;
  /** Envelopes of before, asked for at the first connection. */
  history: number;
  signal: AbortSignal;
}

interface Following {
  access: GatewayAccess;
  watcher: RoomWatcher;
  options: FollowOptions;
  position: { epoch: string; seq: number } | undefined;
  failures: number;
  /** What a gateway that is shutting down asked for. */
  reconnectAfterMs: number | undefined;
}

const backoff = { minMs: 250, maxMs: 30_000 };

/** Resolves when `signal` aborts; throws a Failure when the room is not to be had any more. */
export async function followRoom(
  access: GatewayAccess,
  options: FollowOptions,
  watcher: RoomWatcher,
): Promise<void> {
  const following: Following = {
    access,
    watcher,
    options,
    position: undefined,
    failures: 0,
    reconnectAfterMs: undefined,
  };
  while (!options.signal.aborted) {
    const end = await connectOnce(following);
    if (options.signal.aborted) return;
    if (end !== undefined && !isWorthComingBack(following, end)) throw endFailure(end);
    const retryMs = following.reconnectAfterMs ?? backoffMs(following.failures, backoff, Math.random());
    following.reconnectAfterMs = undefined;
    following.failures += 1;
    watcher.lost(end, retryMs);
    await wait(retryMs, undefined, { signal: options.signal }).catch(() => undefined);
  }
}

/** One connection from beginning to end; `undefined` where there was none. */
async function connectOnce(following: Following): Promise<RoomEnd | undefined> {
  const { access, options, position } = following;
  const { topic, history, signal } = options;
  const place = position === undefined ? { history: String(history) } : { resume: resumeAt(position) };
  let socket: RoomSocket | undefined;
  const onText = (text: string) => read(following, text, (token) => socket?.send("system", refresh(token)));
  try {
    socket = await connectRoom(access, { topic, query: { seq: "1", echo: "1", ...place }, onText });
  } catch (error) {
    const mayTryAgain = position !== undefined && error instanceof Failure && error.isTemporary;
    if (mayTryAgain) return undefined;
    throw error;
  }
  const close = socket.close;
  if (signal.aborted) close();
  signal.addEventListener("abort", close, { once: true });
  const end = await socket.ended;
  signal.removeEventListener("abort", close);
  return end;
}

function read(following: Following, text: string, refreshWith: (token: string) => void): void {
  const envelope = parseObject(text);
  if (envelope === undefined) return;
  const { payload } = envelope;
  if (envelope.kind === "system" && envelope.from === "system:gateway" && isObject(payload)) {
    obey(following, payload, refreshWith);
  }
  if (typeof envelope.seq === "number" && following.position !== undefined) {
    following.position.seq = envelope.seq;
  }
  following.watcher.text(text, envelope);
}

function obey(following: Following, payload: JsonObject, refreshWith: (token: string) => void): void {
  const { access } = following;
  if (payload.event === "welcome" && isObject(payload.history)) {
    following.failures = 0;
    following.position = { epoch: String(payload.history.epoch), seq: Number(payload.history.seq) };
  } else if (payload.event === "draining" && typeof payload.reconnect_after_ms === "number") {
    following.reconnectAfterMs = Math.min(payload.reconnect_after_ms, backoff.maxMs);
  } else if (payload.event === "token_expiring" && access.mintsTokens) {
    // Where it fails the connection ends by itself and is made anew.
    access.enter().then(
      ({ token }) => refreshWith(token),
      () => undefined,
    );
  }
}

/** What is not even JSON does not come from a gateway. */
function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function refresh(token: string): JsonObject {
  return { type: "refresh", token };
}

function resumeAt({ epoch, seq }: { epoch: string; seq: number }): string {
  return `${epoch}:${seq}`;
}

/** [X0-9-5] An ended token is worth coming back for where we can make a new one. */
function isWorthComingBack({ access }: Following, { code, reason }: RoomEnd): boolean {
  return (
    mayComeBack(code) ||
    (code === closeCodes.unauthorised && reason === "token_expired" && access.mintsTokens)
  );
}
