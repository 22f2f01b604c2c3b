// Packets with their length before them, for SPI; 0xFF between them. [AX-8.1-3]
import { type FrameReader, type FrameTaker, packetBytesMax } from "./framing.ts";

export const idleByte = 0xff;

export function encodeLengthPrefix(packet: Uint8Array): Uint8Array {
  if (packet.length === 0 || packet.length > packetBytesMax) {
    throw new RangeError(`a packet has 1 to ${packetBytesMax} bytes`);
  }
  const framed = new Uint8Array(packet.length + 2);
  new DataView(framed.buffer).setUint16(0, packet.length);
  framed.set(packet, 2);
  return framed;
}

type State = "idle" | "length" | "packet" | "noise";

export interface LengthPrefixReader extends FrameReader {
  /** Whether a packet has begun and not ended. */
  isWithin(): boolean;
}

export function createLengthPrefixReader(taker: FrameTaker): LengthPrefixReader {
  const kept = new Uint8Array(packetBytesMax);
  let state: State = "idle";
  let wanted = 0;
  let length = 0;
  const steps: Record<State, (byte: number) => State> = {
    idle: (byte) => {
      wanted = byte << 8;
      return byte === idleByte ? "idle" : "length";
    },
    length: (byte) => {
      wanted |= byte;
      length = 0;
      if (wanted > 0 && wanted <= packetBytesMax) return "packet";
      taker.dropped("an impossible length");
      return "noise";
    },
    packet: (byte) => {
      kept[length] = byte;
      length += 1;
      if (length < wanted) return "packet";
      taker.frame(kept.slice(0, length));
      return "idle";
    },
    noise: (byte) => (byte === idleByte ? "idle" : "noise"),
  };
  const read = (bytes: Uint8Array) => {
    for (const byte of bytes) state = steps[state](byte);
  };
  return Object.assign(read, { isWithin: () => state === "length" || state === "packet" });
}
