// An answer that comes bit by bit, and a bound on what waits for a slow reader.
import type { ServerResponse } from "node:http";
import type { Limits } from "@mcpx/protocol";
import { cutOffStalled } from "./cut-off-stalled.ts";

export interface ResponseStream {
  /** More waits for the reader than may for long. */
  readonly isBehind: boolean;
  /** Written, and not taken by the reader. */
  readonly waitingBytes: number;
  /** False where the reader is behind; what was written is kept all the same, until the bound. */
  write(text: string): boolean;
  /** After it nothing is written any more. */
  end(text?: string): void;
  /** Called each time a reader that was behind has caught up. */
  onDrain(callback: () => void): void;
}

/** While it stalls, a stream may hold this many times what it may hold for long. */
const burstFactor = 16;

export function createResponseStream(
  response: ServerResponse,
  { queueBytesMax, queueStallMs }: Pick<Limits, "queueBytesMax" | "queueStallMs">,
): ResponseStream {
  let stopLooking: (() => void) | undefined;
  const drained: (() => void)[] = [];
  const settle = () => {
    stopLooking?.();
    stopLooking = undefined;
  };
  const lookBeyond = (bytes: number) => {
    if (response.writableLength > bytes) stopLooking ??= cutOffStalled(response, queueStallMs);
  };

  response.on("drain", () => {
    settle();
    for (const callback of drained) callback();
  });
  response.once("close", settle);
  return {
    get waitingBytes() {
      return response.writableLength;
    },
    get isBehind() {
      return response.writableLength > queueBytesMax;
    },
    write(text) {
      if (response.writableEnded || response.destroyed) return false;
      if (response.writableLength > burstFactor * queueBytesMax) {
        response.destroy();
        return false;
      }
      const isReading = response.write(text);
      if (!isReading) lookBeyond(queueBytesMax);
      return isReading;
    },
    end(text) {
      if (response.writableEnded || response.destroyed) return;
      response.end(text);
      lookBeyond(0);
    },
    onDrain: (callback) => void drained.push(callback),
  };
}
