// An SPI bus that an emulator plays, on a Unix socket: a transaction is how many bytes (two bytes, high one first) and
// the bytes; for each of those one comes back. firmware/avr/simulate.c has the other end.
import type { LineTaker } from "./line.ts";
import { socketLine } from "./line-socket.ts";
import type { OpenSpiPort } from "./spi-port.ts";

export interface SpiSocketAddress {
  path: string;
}

interface Waiting {
  bytes: Uint8Array;
  length: number;
  resolve(bytes: Uint8Array): void;
  reject(error: Error): void;
}

export function spiSocketPort({ path }: SpiSocketAddress): OpenSpiPort {
  return async () => {
    let waiting: Waiting | undefined;
    let why: string | undefined;
    const taker: LineTaker = {
      bytes: (bytes) => {
        // What nobody has clocked is not from a slave.
        if (waiting === undefined) return;
        const more = bytes.subarray(0, waiting.bytes.length - waiting.length);
        waiting.bytes.set(more, waiting.length);
        waiting.length += more.length;
        if (waiting.length === waiting.bytes.length) waiting.resolve(waiting.bytes);
      },
      ended: (given) => {
        why = given;
        waiting?.reject(new Error(given));
      },
    };
    const line = await socketLine({ path })(taker);
    return {
      transfer: async (bytes) => {
        const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
        waiting = { bytes: new Uint8Array(bytes.length), length: 0, resolve, reject };
        if (!line.write(transaction(bytes))) reject(new Error(why ?? "it was closed"));
        return promise.finally(() => {
          waiting = undefined;
        });
      },
      close: () => {
        line.close();
        waiting?.reject(new Error("it was closed"));
      },
    };
  };
}

function transaction(bytes: Uint8Array): Uint8Array {
  return Uint8Array.from([bytes.length >> 8, bytes.length & 0xff, ...bytes]);
}
