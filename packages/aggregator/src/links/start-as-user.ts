// A server's process as another user of this machine. The gateway has no right to become one: a launcher that runs as
// that user starts it, behind a socket that only the gateway's user may open. [B-KEY-3]
import { once } from "node:events";
import { statSync } from "node:fs";
import { createConnection, type Socket } from "node:net";
import { dirname } from "node:path";
import { PassThrough } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { isObject, McpxError, parseExact } from "@mcpx/protocol";
import { type FrameKind, frameReader, launchLine } from "./launch-frames.ts";
import { graceMs } from "./process-group.ts";
import type { ServerCommand, ServerProcess } from "./start-process.ts";

export interface Launcher {
  user: string;
  /** Absent where the gateway has no launchers. */
  socket: string | undefined;
}

/** Rejects with `server_unreachable` where that user has no launcher that can be trusted, or it refuses. */
export async function startAsUser(launcher: Launcher, wish: ServerCommand): Promise<ServerProcess> {
  const socket = await connect(launcher);
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const started = Promise.withResolvers<number>();
  const ended = Promise.withResolvers<string>();
  started.promise.catch(() => {});
  const write = (output: PassThrough, body: Buffer) => {
    if (output.write(body)) return;
    socket.pause();
    output.once("drain", () => socket.resume());
  };
  const takers: Record<FrameKind, (body: Buffer) => void> = {
    started: (body) => {
      const { pid, user } = factsIn(body);
      if (user === launcher.user && typeof pid === "number") started.resolve(pid);
      else started.reject(fault(launcher, `its launcher runs as ${String(user)}`));
    },
    refused: (body) => started.reject(fault(launcher, body.toString("utf8").slice(0, 400))),
    stdout: (body) => write(stdout, body),
    stderr: (body) => write(stderr, body),
    ended: (body) => ended.resolve(body.toString("utf8").slice(0, 100)),
  };
  const read = frameReader((kind, body) => takers[kind](body));
  socket.on("data", (chunk: Buffer) => {
    try {
      read(chunk);
    } catch (error) {
      socket.destroy(error as Error);
    }
  });
  socket.on("close", () => {
    started.reject(fault(launcher, "its launcher closed the connection"));
    ended.resolve("its launcher is gone");
    for (const output of [stdout, stderr]) output.end();
  });
  const { command, args, cwd, env } = wish;
  const set = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  socket.write(launchLine({ command, args, ...(cwd !== "" && { cwd }), env: Object.fromEntries(set) }));
  try {
    const pid = await started.promise;
    return {
      pid,
      stdin: socket,
      stdout,
      stderr,
      ended: ended.promise,
      end: () => end(socket, ended.promise),
    };
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** The launcher ends it as we would, and says so; one that does not is left. */
async function end(socket: Socket, ended: Promise<unknown>): Promise<void> {
  socket.end();
  const stop = new AbortController();
  const late = wait(3 * graceMs, undefined, { ref: false, signal: stop.signal }).catch(() => {});
  await Promise.race([ended, late]);
  stop.abort();
  socket.destroy();
  await ended;
}

async function connect({ user, socket: path }: Launcher): Promise<Socket> {
  if (path === undefined) throw missing(user, "this gateway has no launchers");
  const dir = statSync(dirname(path), { throwIfNoEntry: false });
  // Else another user who may write there is asked to run it.
  if (dir === undefined) throw missing(user, "there is no launcher");
  if (dir.uid !== 0 || (dir.mode & 0o022) !== 0)
    throw missing(user, `others than root may write to ${dirname(path)}`);
  const socket = createConnection({ path, allowHalfOpen: true });
  socket.on("error", () => {});
  try {
    await once(socket, "connect");
    return socket;
  } catch (error) {
    throw missing(user, `its launcher cannot be reached (${(error as NodeJS.ErrnoException).code})`);
  }
}

function factsIn(body: Buffer): { pid?: unknown; user?: unknown } {
  const value = parseExact(body.toString("utf8"));
  return isObject(value) ? value : {};
}

function fault({ user }: Launcher, why: string): McpxError {
  return new McpxError("server_unreachable", `as user ${user}: ${why}`);
}

function missing(user: string, why: string): McpxError {
  return new McpxError("server_unreachable", `it cannot be started as user ${user}: ${why}`, {
    suggestion: `sudo mcpx service install --run-as ${user}`,
  });
}
