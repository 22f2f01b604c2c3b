// Packets in chunks that fit a GATT characteristic. [AX-8.1-2]
import { type FrameTaker, packetBytesMax } from "./framing.ts";

export const gattUuids = {
  service: "ef788100-3794-45e6-bdc7-64f8cafc2020",
  toStub: "ef788101-3794-45e6-bdc7-64f8cafc2020",
  fromStub: "ef788102-3794-45e6-bdc7-64f8cafc2020",
} as const;

/** Where no larger MTU was negotiated. */
const chunkBytesDefault = 20;

const isFirst = 0x80;
const isLast = 0x40;
const counterMask = 0x3f;

export function encodeGatt(packet: Uint8Array, chunkMax = chunkBytesDefault): Uint8Array[] {
  if (chunkMax < 2) throw new RangeError("a chunk has at least two bytes");
  const room = chunkMax - 1;
  const count = Math.ceil(packet.length / room);
  return Array.from({ length: count }, (_, index) => {
    const head = (index === 0 ? isFirst : 0) | (index === count - 1 ? isLast : 0) | (index & counterMask);
    return Uint8Array.from([head, ...packet.subarray(index * room, (index + 1) * room)]);
  });
}

/** Takes every chunk of one stub. */
export function createGattReader(taker: FrameTaker): (chunk: Uint8Array) => void {
  let begun: { parts: number[]; counter: number } | undefined;
  const drop = (why: string) => {
    begun = undefined;
    taker.dropped(why);
  };
  return (chunk) => {
    const [head, ...bytes] = chunk;
    if (head === undefined || bytes.length === 0) return drop("an empty chunk");
    if (head & isFirst) begun = { parts: [], counter: 0 };
    if (begun === undefined) return drop("a chunk that nothing began");
    if ((head & counterMask) !== (begun.counter & counterMask)) return drop("a chunk out of turn");
    if (begun.parts.length + bytes.length > packetBytesMax) return drop("a packet that is too long");
    begun.parts.push(...bytes);
    begun.counter += 1;
    if (head & isLast) {
      taker.frame(Uint8Array.from(begun.parts));
      begun = undefined;
    }
  };
}
