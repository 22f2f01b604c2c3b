// The launcher's end of one connection: starts what the line says as the launcher's own user, and passes on what is
// written to it and by it. When the connection ends, what was started ends. [B-KEY-3]
import type { Socket } from "node:net";
import { userInfo } from "node:os";
import type { Readable } from "node:stream";
import { isMcpxError } from "@mcpx/protocol";
import { type FrameKind, frame, launchBytesMax, readLaunch } from "./launch-frames.ts";
import { type ServerProcess, startProcess } from "./start-process.ts";

/** The socket must allow half-open connections. `path`: where commands are looked for unless the line says. */
export function serveLaunch(socket: Socket, { path }: { path: string | undefined }): void {
  let head: Buffer = Buffer.alloc(0);
  const take = (chunk: Buffer) => {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf("\n");
    if (end < 0 && head.length <= launchBytesMax) return;
    socket.off("data", take).pause();
    if (end < 0)
      return refuse(socket, `the request to start a server is longer than ${launchBytesMax} bytes`);
    void launch(socket, head.subarray(0, end).toString("utf8"), head.subarray(end + 1), path);
  };
  socket.on("data", take).on("error", () => socket.destroy());
}

async function launch(socket: Socket, line: string, first: Buffer, path: string | undefined): Promise<void> {
  const wish = readLaunch(line);
  if (wish === undefined) return refuse(socket, "the request to start a server cannot be read");
  const { homedir, username, shell } = userInfo();
  const own = { HOME: homedir, USER: username, LOGNAME: username, SHELL: shell ?? undefined, PATH: path };
  let server: ServerProcess;
  try {
    server = await startProcess({ ...wish, cwd: wish.cwd ?? homedir, env: { ...own, ...wish.env } });
  } catch (error) {
    return refuse(socket, isMcpxError(error) ? (error.detail ?? error.code) : "it cannot be started");
  }
  socket.write(frame("started", JSON.stringify({ pid: server.pid, user: username })));
  const isOver = () => void server.end();
  if (socket.destroyed) return isOver();
  // The gateway closes its half when the server shall end, and both when it is gone.
  socket.on("end", isOver).on("close", isOver);
  if (first.length > 0) server.stdin.write(first);
  socket.pipe(server.stdin, { end: false });
  relay(server.stdout, "stdout", socket);
  relay(server.stderr, "stderr", socket);
  socket.end(frame("ended", await server.ended));
}

function relay(output: Readable, kind: FrameKind, socket: Socket): void {
  output.on("error", () => {});
  output.on("data", (chunk: Buffer) => {
    if (socket.destroyed || socket.write(frame(kind, chunk))) return;
    output.pause();
    socket.once("drain", () => output.resume());
  });
}

function refuse(socket: Socket, why: string): void {
  socket.end(frame("refused", why));
}
