// Loaded into a gateway's process before the gateway: two routes that a gateway must not have, for controls.
import { type IncomingMessage, Server } from "node:http";

const emit = Server.prototype.emit;

Server.prototype.emit = function (this: Server, event: string, ...args: unknown[]): boolean {
  if (event === "request") misbehave((args[0] as IncomingMessage).url ?? "");
  return Reflect.apply(emit, this, [event, ...args]);
} as typeof emit;

function misbehave(path: string): void {
  if (path === "/planted/death") process.kill(process.pid, "SIGKILL");
  const [, ms] = /^\/planted\/stall\/(\d+)$/.exec(path) ?? [];
  const until = performance.now() + Number(ms ?? 0);
  while (performance.now() < until);
}
