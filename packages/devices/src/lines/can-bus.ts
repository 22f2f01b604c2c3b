// A CAN bus, whatever brings its frames: an adapter that speaks SLCAN, an interface of this machine. It knows nothing of
// nodes or packets. [AX-8.1-4]
import type { CanFrame } from "../framing/slcan.ts";

export interface CanBusTaker {
  frame(frame: CanFrame): void;
  /** Once, unless we have closed it ourselves. */
  ended(why: string): void;
}

export interface CanBus {
  /** False where the frame was surely not sent. */
  send(frame: CanFrame): boolean;
  close(): void;
}

/** Rejects where it cannot be opened. */
export type OpenCanBus = (taker: CanBusTaker) => Promise<CanBus>;
