// A CAN bus behind an adapter that speaks SLCAN, on whatever line the adapter is. [AX-8.1-4]
import { createSlcanReader, encodeSlcan, slcanClosing, slcanOpening } from "../framing/slcan.ts";
import type { OpenCanBus } from "./can-bus.ts";
import type { OpenLine } from "./line.ts";

export interface SlcanAddress {
  /** The adapter's own line. */
  port: OpenLine;
  /** Of the bus, in bits a second; 500 000 unless given. */
  bitrate?: number | undefined;
}

export function slcanBus({ port, bitrate = 500_000 }: SlcanAddress): OpenCanBus {
  const opening = slcanOpening(bitrate);
  return async (taker) => {
    const read = createSlcanReader({ frame: taker.frame, dropped: () => {} });
    const adapter = await port({ bytes: read, ended: taker.ended });
    adapter.write(opening);
    return {
      send: (frame) => adapter.write(encodeSlcan(frame)),
      close: () => {
        // One that has ended is not told.
        adapter.write(slcanClosing);
        adapter.close();
      },
    };
  };
}
