// The frame grammar of RFC 6455, read by the `ws` library's Receiver: used alone, because the gateway writes its
// own frames and chooses its own close codes. The library exports the class without types.
import type { Writable } from "node:stream";
import * as ws from "ws";

interface FrameReaderEvents {
  message: [data: Buffer, isBinary: boolean];
  ping: [data: Buffer];
  pong: [data: Buffer];
  conclude: [code: number, reason: Buffer];
  error: [error: Error & { code?: string }];
}

export interface FrameReader extends Writable {
  on<E extends keyof FrameReaderEvents>(event: E, listener: (...args: FrameReaderEvents[E]) => void): this;
}

interface ReaderOptions {
  isServer: boolean;
  maxPayload: number;
  maxFragments: number;
  maxBufferedChunks: number;
  skipUTF8Validation: boolean;
}

const { Receiver } = ws as unknown as { Receiver: new (options: ReaderOptions) => FrameReader };

/** Reads of a socket that one frame may take: networks deliver it in pieces of their own. */
const readsPerFragment = 4;

/**
 * Frames announcing more than `bytesMax` fail at their header, before anything is buffered. Each frame of a message costs
 * more than 100 bytes of memory however few it carries, so their number is bounded apart from their bytes.
 */
export function createFrameReader(bytesMax: number, fragmentsMax: number): FrameReader {
  return new Receiver({
    isServer: true,
    maxPayload: bytesMax,
    maxFragments: fragmentsMax,
    maxBufferedChunks: fragmentsMax * readsPerFragment,
    // Bad UTF-8 is an envelope's fault, answered like any other, so it is checked where that is decided. [X0-4-1]
    skipUTF8Validation: true,
  });
}
