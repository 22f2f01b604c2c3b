// Consistent overhead byte stuffing: packets without zeros, a zero after each. [AX-8.1-1]
import { type FrameReader, type FrameTaker, packetBytesMax } from "./framing.ts";

const blockMax = 254;

/** Without the closing zero. */
export function encodeCobs(packet: Uint8Array): Uint8Array {
  const encoded = new Uint8Array(packet.length + Math.floor(packet.length / blockMax) + 1);
  let codeAt = 0;
  let at = 1;
  for (const [index, byte] of packet.entries()) {
    if (byte !== 0) encoded[at++] = byte;
    const isFull = at - codeAt > blockMax;
    if (byte === 0 || (isFull && index + 1 < packet.length)) {
      encoded[codeAt] = at - codeAt;
      codeAt = at;
      at += 1;
    }
  }
  encoded[codeAt] = at - codeAt;
  return encoded.subarray(0, at);
}

/** `undefined` where a code byte points past the end or there is a zero inside. */
export function decodeCobs(encoded: Uint8Array): Uint8Array | undefined {
  const packet = new Uint8Array(encoded.length);
  let length = 0;
  for (let at = 0; at < encoded.length; ) {
    const code = encoded[at] as number;
    const end = at + code;
    const block = encoded.subarray(at + 1, end);
    if (code === 0 || end > encoded.length || block.includes(0)) return undefined;
    packet.set(block, length);
    length += block.length;
    // A zero stands between blocks, but not after a full one and not at the end.
    if (code <= blockMax && end < encoded.length) length += 1;
    at = end;
  }
  return packet.subarray(0, length);
}

/** As it goes over the line: noise before it ends at its first byte. */
export function frameCobs(packet: Uint8Array): Uint8Array {
  const encoded = encodeCobs(packet);
  const frame = new Uint8Array(encoded.length + 2);
  frame.set(encoded, 1);
  return frame;
}

const encodedMax = packetBytesMax + Math.ceil(packetBytesMax / blockMax) + 1;

export function createCobsReader(taker: FrameTaker): FrameReader {
  const kept = new Uint8Array(encodedMax);
  let length = 0;
  const finish = () => {
    const packet = length > encodedMax ? undefined : decodeCobs(kept.slice(0, length));
    // Zeros take no more room encoded than they do decoded: what is encoded may be short, and the packet too long.
    const isTooLong = length > encodedMax || (packet?.length ?? 0) > packetBytesMax;
    if (isTooLong) taker.dropped("a frame that is too long");
    else if (packet === undefined) taker.dropped("a frame that is no COBS");
    else if (length > 0) taker.frame(packet);
    length = 0;
  };
  return (bytes) => {
    for (const byte of bytes) {
      if (byte === 0) finish();
      else {
        if (length < encodedMax) kept[length] = byte;
        if (length <= encodedMax) length += 1;
      }
    }
  };
}
