// A serial port that is not there: a pseudo terminal whose other end is a Unix socket.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { endProcess } from "./tied-process.ts";

export interface SerialPort extends AsyncDisposable {
  readonly path: string;
}

/** Ends by itself once the socket does. */
export async function startSerialPort(socketPath: string): Promise<SerialPort> {
  const bridge = spawn("python3", [join(import.meta.dirname, "pty-bridge.py"), socketPath], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(bridge, "exit").then(([code]) => {
    throw new Error(`pty-bridge.py ended with ${code} before it had a port for ${socketPath}`);
  });
  const [path] = (await Promise.race([once(createInterface(bridge.stdout), "line"), ended])) as [string];
  return { path, [Symbol.asyncDispose]: () => endProcess(bridge) };
}
