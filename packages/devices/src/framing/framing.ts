// What makes packets of bytes and bytes of packets, whatever carries them. Readers never throw: what is damaged is
// dropped and told of, and the next good frame is read.

/** The longest packet on any transport. */
export const packetBytesMax = 1_024;

export interface FrameTaker {
  frame(bytes: Uint8Array): void;
  /** Something could not be read: in a few words. */
  dropped(why: string): void;
}

/** Takes bytes as they come, in pieces of any size. */
export type FrameReader = (bytes: Uint8Array) => void;
