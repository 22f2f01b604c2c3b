// Loaded into a gateway's process before the gateway: two routes that a gateway must not have, for controls.
import { type IncomingMessage, Server } from "node:http";

const emit = Server.prototype.emit;

Server.prototype.emit = function (this: Server, event: string, ...args: unknown[]): boolean {
  if (event === "request") misbehave((args[0] as IncomingMessage).url ?? "");
  return Reflect.apply(emit, this, [event, ...args]);
} as typeof emit;

let hasStalled = false;

function misbehave(path: string): void {
  if (path === "/planted/death") process.kill(process.pid, "SIGKILL");
  const [, isOnce, ms] = /^\/planted\/stall(-once)?\/(\d+)$/.exec(path) ?? [];
  if (isOnce !== undefined && hasStalled) return;
  hasStalled ||= ms !== undefined;
  const until = performance.now() + Number(ms ?? 0);
  while (performance.now() < until);
}
