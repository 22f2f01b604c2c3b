// A line over a Unix or TCP socket: an emulator's UART, or a serial server.
import { once } from "node:events";
import { connect, type NetConnectOpts } from "node:net";
import type { OpenLine } from "./line.ts";

export type SocketAddress = { path: string } | { host: string; port: number };

const connectMs = 5_000;
/** What a device that does not read may leave waiting. */
const waitingBytesMax = 65_536;

export function socketLine(address: SocketAddress): OpenLine {
  return async (taker) => {
    const socket = connect({ ...address, noDelay: true } as NetConnectOpts);
    try {
      await once(socket, "connect", { signal: AbortSignal.timeout(connectMs) });
    } catch (error) {
      socket.destroy();
      throw error;
    }
    let isOver = false;
    let paused: NodeJS.Timeout | undefined;
    let why = "the other side has closed it";
    socket.on("data", (bytes) => {
      if (!isOver) taker.bytes(bytes);
    });
    socket.on("error", (error) => {
      why = error.message;
    });
    socket.on("close", () => {
      clearTimeout(paused);
      if (isOver) return;
      isOver = true;
      taker.ended(why);
    });
    return {
      write: (bytes) => {
        if (isOver || socket.destroyed || socket.writableLength > waitingBytesMax) return false;
        socket.write(bytes);
        return true;
      },
      pause: (ms) => {
        socket.pause();
        clearTimeout(paused);
        paused = setTimeout(() => socket.resume(), ms);
      },
      close: () => {
        isOver = true;
        clearTimeout(paused);
        socket.destroy();
      },
    };
  };
}
