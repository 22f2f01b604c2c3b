// Makes the calls, in a process of its own; told what to do by `load-process.ts`, one command at a time.
import { percentile } from "../rooms/load.ts";
import { HttpConnection } from "./http-connection.ts";
import type { LoadCommand, LoadFigures } from "./load-process.ts";
import { type Call, firstId, openSession, type Target } from "./session.ts";

/** Sessions outlive the connections of a turn. */
const sessions = new Map<string, Promise<Call>>();
let connections: HttpConnection[] = [];
let call: Call = () => {};
let lastId = firstId;

let current = 0;

function broken(error: unknown): void {
  process.send?.({ number: current, error: String(error) });
}

async function open(target: Target, count: number): Promise<void> {
  const key = JSON.stringify(target);
  const session = sessions.get(key) ?? openSession(target);
  sessions.set(key, session);
  call = await session;
  connections = await Promise.all(
    Array.from({ length: count }, () => HttpConnection.connect(target.url, broken)),
  );
}

/** Every connection makes one call after the other until it is time, or so many calls have been made. */
function saturate(ms: number, callsMax: number): Promise<LoadFigures> {
  const took: number[] = [];
  const began = performance.now();
  let sent = 0;
  let busy = connections.length;
  return new Promise((resolve) => {
    const next = (connection: HttpConnection) => {
      const at = performance.now();
      if (at - began >= ms || sent >= callsMax) {
        busy -= 1;
        if (busy === 0) resolve(figures(took, at - began));
        return;
      }
      sent += 1;
      lastId += 1;
      call(connection, lastId, () => {
        took.push(performance.now() - at);
        next(connection);
      });
    };
    for (const connection of connections) next(connection);
  });
}

/** Calls begin at a steady rate, whether or not earlier ones are done; waiting for a connection counts. */
function keepRate(perSecond: number, ms: number): Promise<LoadFigures> {
  const total = Math.round((perSecond * ms) / 1000);
  const took: number[] = [];
  const free = [...connections];
  const due: number[] = [];
  const began = performance.now();
  let begun = 0;
  return new Promise((resolve) => {
    const send = () => {
      while (due.length > 0) {
        const connection = free.pop();
        if (connection === undefined) return;
        const at = due.shift() ?? 0;
        lastId += 1;
        call(connection, lastId, () => {
          took.push(performance.now() - at);
          free.push(connection);
          if (took.length === total) resolve(figures(took, performance.now() - began));
          else send();
        });
      }
    };
    const tick = () => {
      const now = performance.now();
      for (; begun < total && began + (begun * 1000) / perSecond <= now; begun += 1) due.push(now);
      send();
      if (begun < total) setTimeout(tick, 1);
    };
    tick();
  });
}

function figures(took: number[], ms: number): LoadFigures {
  took.sort((a, b) => a - b);
  return { calls: took.length, ms, p50Ms: percentile(took, 50), p99Ms: percentile(took, 99) };
}

async function obey(command: LoadCommand): Promise<LoadFigures | null> {
  switch (command.do) {
    case "open":
      await open(command.target, command.connections);
      return null;
    case "saturate":
      return saturate(command.ms, command.callsMax);
    case "keepRate":
      return keepRate(command.perSecond, command.ms);
    case "close":
      for (const connection of connections) connection.close();
      connections = [];
      return null;
  }
}

process.on("message", ({ number, command }: { number: number; command: LoadCommand }) => {
  current = number;
  obey(command).then((value) => process.send?.({ number, value }), broken);
});
process.on("uncaughtException", broken);
process.on("disconnect", () => process.exit(0));
