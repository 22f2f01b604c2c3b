// A line over SPI: the master sends packets with their length before them, and clocks idle bytes to hear the stub. What
// is written and heard are whole packets. [AX-8.1-3]
import { createLengthPrefixReader, encodeLengthPrefix, idleByte } from "../framing/length-prefix.ts";
import type { OpenLine } from "./line.ts";
import type { OpenSpiPort } from "./spi-port.ts";

export interface SpiLineAddress {
  port: OpenSpiPort;
  /** How often a stub is looked at of which nothing is expected; 20 unless given. */
  pollMs?: number | undefined;
}

const packetsWaitingMax = 16;
/** Clocked at a time where there is nothing to say. */
const idleBytes = new Uint8Array(32).fill(idleByte);
/** After something was said the stub is looked at more often, for so long. */
const expectingMs = 1_000;
const expectingPollMs = 1;

export function spiLine({ port: openPort, pollMs = 20 }: SpiLineAddress): OpenLine {
  if (!Number.isInteger(pollMs) || pollMs < 1 || pollMs > 60_000)
    throw new RangeError("a stub is looked at every 1 to 60000 ms");
  return async (taker) => {
    const port = await openPort();
    const waiting: { bytes: Uint8Array; isAwaited: () => boolean }[] = [];
    let isOver = false;
    let expectingUntil = 0;
    let wake = () => {};
    const read = createLengthPrefixReader({
      // A caller that waits for the packet sends its request again; the line does not report why a packet was damaged.
      dropped: () => {},
      frame: (packet) => {
        expectingUntil = 0;
        if (!isOver) taker.bytes(packet);
      },
    });
    const pause = async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, performance.now() < expectingUntil ? expectingPollMs : pollMs);
      wake = resolve;
      await promise;
      clearTimeout(timer);
    };
    const next = () => {
      let packet = waiting.shift();
      while (packet !== undefined && !packet.isAwaited()) packet = waiting.shift();
      return packet?.bytes;
    };
    const run = async () => {
      while (!isOver) {
        // A stub has one buffer for what it says: it is heard out before it is told something new.
        const isTurn = !read.isWithin();
        read(await port.transfer((isTurn ? next() : undefined) ?? idleBytes));
        if (!isOver && waiting.length === 0 && !read.isWithin()) await pause();
      }
    };
    const end = () => {
      if (isOver) return false;
      isOver = true;
      wake();
      port.close();
      return true;
    };
    run().catch((error: Error) => {
      if (end()) taker.ended(error.message);
    });
    return {
      write: (packet, isAwaited = () => true) => {
        if (isOver || waiting.length >= packetsWaitingMax) return false;
        waiting.push({ bytes: encodeLengthPrefix(packet), isAwaited });
        expectingUntil = performance.now() + expectingMs;
        wake();
        return true;
      },
      close: () => void end(),
    };
  };
}
