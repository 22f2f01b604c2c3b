// What happens at gates, told at once to every page that is logged in: a stream of events that name the gate and nothing else.
// What it is about is asked for with the same login. A page that was cut off comes back to where it was.
import { randomBytes } from "node:crypto";
import { type Gatekeeper, knownAnchors } from "@mcpx/aggregator";
import type { HttpRequest, HttpResponse, ResponseStream } from "@mcpx/host";
import { type JsonObject, McpxError } from "@mcpx/protocol";
import type { Session } from "./sessions.ts";

export interface GateNews {
  /** GET, with `Last-Event-ID` where somebody comes back. Throws `too_many_connections` or `draining`. */
  open(session: Session, request: HttpRequest): HttpResponse;
  /** Ends the streams of those who are not logged in any more. */
  sweep(): void;
  /** Ends them all. */
  close(): void;
}

/** What is told of. */
export type WatchedGates = Pick<Gatekeeper, "watchers" | Around>;

export interface GateNewsOptions {
  gates: WatchedGates;
  /** Throws where nobody is logged in. */
  check(request: HttpRequest): Session;
}

type Around = "isPanic" | "anchors" | "rules" | "unannotated" | "quorum" | "grants";

interface Listener {
  session: Session;
  request: HttpRequest;
  out: ResponseStream | undefined;
}

const headers = { "content-type": "text/event-stream", "x-accel-buffering": "no" };
/** So long one can be away and miss nothing; who was away longer is told to look at everything. */
const keptMax = 256;
const listenersMax = 64;
/** One page of a browser listens for all of them. */
const listenersPerSessionMax = 8;
/** A page shows within a second what is true now. */
const lookMs = 250;
const looksPerSweep = 4;
const looksPerSign = 20;
const idShape = /^([A-Za-z0-9_-]{8})-(\d{1,15})$/;

export function createGateNews({ gates, check }: GateNewsOptions): GateNews {
  /** Positions of another process mean nothing here. */
  const epoch = randomBytes(6).toString("base64url");
  const kept: string[] = [];
  const listeners = new Set<Listener>();
  let position = 0;
  let looks = 0;
  let around = aroundOf(gates);
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  const textOf = (at: number, news: JsonObject) => `id: ${epoch}-${at}\ndata: ${JSON.stringify(news)}\n\n`;
  const tell = (news: JsonObject) => {
    position += 1;
    const text = textOf(position, news);
    kept.push(text);
    if (kept.length > keptMax) kept.shift();
    for (const { out } of listeners) out?.write(text);
  };
  const tellGate = ({ id }: { id: string }) => tell({ gate: id });
  const watcher = { opened: tellGate, changed: tellGate };
  gates.watchers.add(watcher);

  /** What was missed, or that everything has to be looked at. */
  const begin = (lastId: unknown): string => {
    const [, from, at] = idShape.exec(typeof lastId === "string" ? lastId : "") ?? [];
    const missed = position - Number(at);
    const isKnown = from === epoch && missed >= 0 && missed <= kept.length;
    return isKnown ? kept.slice(kept.length - missed).join("") : textOf(position, { all: true });
  };
  const end = (listener: Listener) => {
    listeners.delete(listener);
    listener.out?.end();
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  const sweep = () => {
    for (const listener of [...listeners]) if (!isIn(check, listener.request)) end(listener);
  };
  const tellOfAround = () => {
    const now = aroundOf(gates);
    if (now !== around) tell({ all: true });
    around = now;
  };
  const look = () => {
    looks += 1;
    if (looks % looksPerSweep === 0) sweep();
    tellOfAround();
    if (looks % looksPerSign === 0) for (const { out } of listeners) out?.write(": here\n\n");
  };

  return {
    open(session, request) {
      if (isClosed) throw new McpxError("draining");
      const own = [...listeners].filter((one) => one.session.id === session.id);
      if (listeners.size >= listenersMax || own.length >= listenersPerSessionMax) {
        throw new McpxError("too_many_connections", "too many pages listen already");
      }
      // Nobody looked while nobody listened: a page that comes back is told at once, and only once.
      tellOfAround();
      const listener: Listener = { session, request, out: undefined };
      listeners.add(listener);
      timer ??= setInterval(look, lookMs).unref();
      request.onGone(() => end(listener));
      return {
        headers,
        stream(out) {
          if (!listeners.has(listener)) return out.end();
          listener.out = out;
          out.write(begin(request.headers["last-event-id"]) || ": here\n\n");
        },
      };
    },
    sweep,
    close() {
      isClosed = true;
      gates.watchers.delete(watcher);
      for (const listener of [...listeners]) end(listener);
    },
  };
}

function isIn(check: GateNewsOptions["check"], request: HttpRequest): boolean {
  try {
    check(request);
    return true;
  } catch {
    // Whatever the news is: a page whose login cannot be checked gets nothing.
    return false;
  }
}

/** What no gate tells: whether all is asked for, by which rules, what was granted, and whose signatures count. */
function aroundOf(gates: Pick<Gatekeeper, Around>): string {
  try {
    return JSON.stringify([
      [gates.isPanic, gates.unannotated, gates.quorum],
      gates.rules,
      [...gates.grants.values()].map(({ id, usesLeft }) => [id, usesLeft]),
      knownAnchors(gates).map(({ name, thumbprint }) => [name, thumbprint]),
    ]);
  } catch {
    // The page gets the reason when it asks.
    return "unreadable";
  }
}
