// A line over a pair of GATT characteristics: packets in chunks of what one write can carry. What brings the chunks
// there is another line, on which every write and every piece that is heard is one chunk. [AX-8.1-2]
import { createGattReader, encodeGatt } from "../framing/gatt.ts";
import type { Line, LineTaker, OpenLine } from "./line.ts";

export interface ChunkLine extends Line {
  /** MTU − 3; 20 unless more was negotiated. */
  readonly chunkBytesMax?: number | undefined;
}

export type OpenChunks = (taker: LineTaker) => Promise<ChunkLine>;

export interface GattAddress {
  chunks: OpenChunks;
}

export function gattLine({ chunks }: GattAddress): OpenLine {
  return async (taker) => {
    // A caller that waits for the packet sends its request again; the line does not report why a packet was damaged.
    const read = createGattReader({ frame: taker.bytes, dropped: () => {} });
    const line = await chunks({ bytes: read, ended: taker.ended });
    return {
      write: (packet, isAwaited) =>
        encodeGatt(packet, line.chunkBytesMax).every((chunk) => line.write(chunk, isAwaited)),
      close: () => line.close(),
    };
  };
}
