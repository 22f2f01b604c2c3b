// Watches a line, or stands between the line and the gateway, and shows every frame.
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { resolve } from "node:path";
import { type Line, type SeenFrame, type WatchedLine, watchFrames } from "@mcpx/devices";
import type { MonitorContext } from "../commands/devices/devices-monitor.ts";
import { Failure, misuse } from "../framework/failure.ts";
import type { Output } from "../framework/output.ts";
import { visible } from "../framework/visible.ts";
import { readGivenLine } from "./line-options.ts";

type From = "device" | "gateway";

export async function monitorLine(context: MonitorContext): Promise<number> {
  const { options, output, words, cwd } = context;
  const [text = ""] = words;
  const { encoding, openLine } = readGivenLine(text, context);
  const watched: WatchedLine = { encoding, ...readProfile(options) };
  if (options.between !== undefined && encoding !== "cbor") {
    throw misuse("--between is for lines of bytes", howToLookAt(text));
  }
  const show = (from: From) => (frame: SeenFrame) => {
    if (options.json) output.json(reportOf(from, frame));
    else output.line(lineOf(from, frame, output));
  };
  const between =
    options.between === undefined ? undefined : createBetween(watchFrames(watched, show("gateway")));
  const fromDevice = watchFrames(watched, show("device"));
  const ended = Promise.withResolvers<string | undefined>();
  const line = await openLine({
    bytes: (bytes) => {
      fromDevice(bytes);
      between?.write(bytes);
    },
    ended: ended.resolve,
    isLookingOn: between === undefined,
  });
  context.interrupted().addEventListener("abort", () => ended.resolve(undefined), { once: true });
  try {
    if (between !== undefined) await between.listen(resolve(cwd, options.between ?? ""), line);
    const where =
      options.between === undefined ? "" : `; the gateway's line is unix:${resolve(cwd, options.between)}`;
    output.note(`-- watching ${text}${where}; Ctrl-C ends`);
    const why = await ended.promise;
    if (why !== undefined) throw new Failure(`the line has ended: ${why}`, undefined, { isTemporary: true });
    return 0;
  } finally {
    line.close();
    await between?.close();
  }
}

function howToLookAt(line: string): string {
  return /^(?:mqtts?|socketcan):/.test(line)
    ? "leave it out: a broker or an interface can be looked at by many"
    : "leave it out, and end the gateway first: such a line has one owner";
}

function readProfile({
  profile = "b",
  crc = "16",
}: Pick<MonitorContext["options"], "profile" | "crc">): Pick<WatchedLine, "profile" | "crc"> {
  return { profile, crc: crc === "8" ? 8 : 16 };
}

function reportOf(from: From, { text, bytes, isRead }: SeenFrame): object {
  const at = new Date().toISOString();
  return { at, from, read: isRead, text, bytes: Buffer.from(bytes).toString("hex") };
}

function lineOf(from: From, { text, isRead }: SeenFrame, { paint }: Output): string {
  const time = paint("dim", new Date().toISOString().slice(11, 23));
  const arrow = from === "device" ? paint("green", "←") : paint("cyan", "→");
  return `${time} ${arrow} ${isRead ? visible(text) : paint("yellow", `dropped: ${visible(text)}`)}`;
}

interface Between {
  listen(path: string, line: Line): Promise<void>;
  /** To the gateway, if one is there. */
  write(bytes: Uint8Array): void;
  close(): Promise<void>;
}

/** One gateway at a time, as a port would have it. */
function createBetween(fromGateway: (bytes: Uint8Array) => void): Between {
  let gateway: Socket | undefined;
  let server: Server | undefined;
  return {
    listen: async (path, line) => {
      server = createServer((socket) => {
        if (gateway !== undefined) return void socket.destroy();
        gateway = socket;
        socket.on("data", (bytes) => {
          fromGateway(bytes);
          line.write(bytes);
        });
        // A client that resets the socket has left too.
        socket.on("error", () => socket.destroy());
        socket.on("close", () => {
          gateway = undefined;
        });
      });
      await listening(server, path);
    },
    write: (bytes) => void gateway?.write(bytes),
    close: async () => {
      gateway?.destroy();
      if (server?.listening !== true) return;
      const closed = once(server, "close");
      server.close();
      await closed;
    },
  };
}

/** A socket that only its owner may use. */
export async function listening(server: Server, path: string): Promise<void> {
  const before = process.umask(0o177);
  try {
    server.listen(path);
    await once(server, "listening");
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new Failure(`${path} cannot be made (${code})`, "give the path of a socket that is not there yet", {
      cause,
    });
  } finally {
    process.umask(before);
  }
}
