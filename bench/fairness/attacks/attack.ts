// What an attack is: a verb, how large, how many at once, and with which credential. Everything else is in the files of
// the five ways to do it.
import type { Tally } from "./tally.ts";

export interface Request {
  method: "GET" | "POST" | "DELETE";
  /** `{lane}` is the number of the connection, `{epoch}` that of the gateway's log. */
  path: string;
  headers?: Record<string, string>;
  body?(bytes: number): string;
  /** A revision: the request belongs to an MCP session that was opened with it. */
  session?: string;
}

/** One request after the other on each connection. */
interface Requests {
  way: "requests";
  request: Request;
}

/** Opens a connection, asks, reads so many bytes of the answer, and goes. */
interface Visits {
  way: "visits";
  request: Request;
  readBytes?: number;
}

/** Opens a connection, sends a part, and keeps it: a request without its end, or one whose answer is not read. */
interface Holds {
  way: "holds";
  request: Request;
  sends: "half of the head" | "all but the last byte" | "all";
  /** Bytes behind the request, e.g. the beginning of a WebSocket message. */
  behind?(bytes: number): Buffer;
}

/** Writes the same bytes to a WebSocket as fast as they are taken. */
interface Frames {
  way: "frames";
  at: "room" | "ax";
  topic?: string;
  frames(bytes: number): Buffer;
}

/** Registers with a list of so many bytes, leaves, and comes again. */
interface Registrations {
  way: "registrations";
  list(bytes: number): string;
}

/** What a device on a TCP line says. */
interface Noise {
  way: "noise";
  noise(bytes: number): Buffer;
}

export type Verb = Requests | Visits | Holds | Frames | Registrations | Noise;

export type Credential = "token" | "forged token" | "none";

export interface Attack {
  name: string;
  verb: Verb;
  bytes: number;
  concurrency: number;
  as: Credential;
}

export interface Target {
  url: string;
  token: string;
  devicePort: number;
}

/** An attack that goes on until it is told to end. */
export interface Going {
  target: Target;
  attack: Attack;
  tally: Tally;
  signal: AbortSignal;
}
