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
  const length = decodeInto(packet, encoded, encoded.length);
  return length === -1 ? undefined : packet.subarray(0, length);
}

/** The packet's length; -1 where it is none. */
function decodeInto(packet: Uint8Array, encoded: Uint8Array, encodedLength: number): number {
  let length = 0;
  for (let at = 0; at < encodedLength; ) {
    const code = encoded[at] as number;
    const end = at + code;
    if (code === 0 || end > encodedLength) return -1;
    for (at += 1; at < end; at += 1) {
      const byte = encoded[at] as number;
      if (byte === 0) return -1;
      packet[length++] = byte;
    }
    // A zero stands between blocks, but not after a full one and not at the end.
    if (code <= blockMax && end < encodedLength) packet[length++] = 0;
  }
  return length;
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
  const decoded = new Uint8Array(encodedMax);
  let length = 0;
  const finish = () => {
    const packetLength = length > encodedMax ? length : decodeInto(decoded, kept, length);
    length = 0;
    // Zeros take no more room encoded than they do decoded: what is encoded may be short, and the packet too long.
    if (packetLength > packetBytesMax) taker.dropped("a frame that is too long");
    else if (packetLength === -1) taker.dropped("a frame that is not COBS");
    else taker.frame(decoded.slice(0, packetLength));
  };
  return (bytes) => {
    // By index, here and above: a line of noise is mostly this loop.
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at] as number;
      if (byte !== 0) {
        if (length < encodedMax) kept[length] = byte;
        if (length <= encodedMax) length += 1;
      } else if (length > 0) finish();
    }
  };
}
