// A line over a serial port of this machine: USB adapters, or a UART of a board like this one. 8N1. [AX-8.1-1]
import type { OpenLine } from "./line.ts";
import { loadOptional } from "./optional.ts";

export interface SerialAddress {
  /** `/dev/ttyUSB0`, `COM3`. */
  path: string;
  /** 38 400 unless given; at least 9 600. */
  baudRate?: number | undefined;
}

/** What a device that does not read may leave waiting. */
const waitingBytesMax = 65_536;

export function serialLine({ path, baudRate = 38_400 }: SerialAddress): OpenLine {
  if (!Number.isInteger(baudRate) || baudRate < 9_600) throw new RangeError("a UART has at least 9600 baud");
  return async (taker) => {
    const { SerialPort } = await loadOptional("serialport", "a serial line", () => import("serialport"));
    const port = new SerialPort({ path, baudRate, autoOpen: false });
    const opened = Promise.withResolvers<void>();
    port.open((error) => (error ? opened.reject(error) : opened.resolve()));
    await opened.promise;
    let isOver = false;
    let paused: NodeJS.Timeout | undefined;
    const end = (why: string) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(paused);
      taker.ended(why);
    };
    port.on("data", (bytes: Buffer) => {
      if (!isOver) taker.bytes(bytes);
    });
    // One that is unplugged says either or both.
    port.on("error", (error) => end(error.message));
    port.on("close", (error: Error | null) => end(error?.message ?? "it was closed"));
    return {
      write: (bytes) => {
        if (isOver || port.writableLength > waitingBytesMax) return false;
        port.write(bytes);
        return true;
      },
      pause: (ms) => {
        port.pause();
        clearTimeout(paused);
        paused = setTimeout(() => port.resume(), ms);
      },
      close: () => {
        isOver = true;
        clearTimeout(paused);
        if (port.isOpen) port.close();
      },
    };
  };
}
