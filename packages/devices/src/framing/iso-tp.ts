// ISO 15765-2 over classical CAN: packets cut into frames of 8 bytes, and flow control. Pure: the sender waits and
// measures time by what this says. [AX-8.1-4]
import { type FrameTaker, packetBytesMax } from "./framing.ts";

const frameBytes = 8;
const padding = 0xcc;
const singleMax = 7;
const firstBytes = 6;
const nextBytes = 7;

const kinds = { single: 0, first: 1, consecutive: 2, flow: 3 } as const;

/** The gateway's own wishes. */
const blockSize = 8;
const separationMs = 2;

function padded(bytes: readonly number[]): Uint8Array {
  const frame = new Uint8Array(frameBytes).fill(padding);
  frame.set(bytes);
  return frame;
}

/** All frames of a packet; between the first and the others a flow control is waited for. */
export function encodeIsoTp(packet: Uint8Array): Uint8Array[] {
  if (packet.length === 0 || packet.length > packetBytesMax) {
    throw new RangeError(`a packet has 1 to ${packetBytesMax} bytes`);
  }
  if (packet.length <= singleMax) return [padded([packet.length, ...packet])];
  const head = [(kinds.first << 4) | (packet.length >> 8), packet.length & 0xff];
  const frames = [padded([...head, ...packet.subarray(0, firstBytes)])];
  for (let at = firstBytes; at < packet.length; at += nextBytes) {
    const counter = (kinds.consecutive << 4) | (frames.length & 15);
    frames.push(padded([counter, ...packet.subarray(at, at + nextBytes)]));
  }
  return frames;
}

export type FlowControl =
  | { go: "on"; blockSize: number; separationMs: number }
  | { go: "wait" }
  | { go: "overflow" };

/** What a frame says about the flow; `undefined` where it says nothing that is known. */
export function readFlowControl(frame: Uint8Array): FlowControl | undefined {
  const [head, block, separation] = frame;
  if (head === undefined || block === undefined || separation === undefined) return undefined;
  if (head === 0x30) return { go: "on", blockSize: block, separationMs: millisecondsOf(separation) };
  if (head === 0x31) return { go: "wait" };
  return head === 0x32 ? { go: "overflow" } : undefined;
}

/** F1 to F9 are parts of a millisecond; what is reserved counts as the longest. */
function millisecondsOf(code: number): number {
  if (code <= 127) return code;
  return code >= 0xf1 && code <= 0xf9 ? 1 : 127;
}

export interface IsoTpTaker extends FrameTaker {
  /** A flow control to be sent. */
  answer(frame: Uint8Array): void;
}

/**
 * Takes every frame of one sender but its flow controls. `forget` is for a caller that has waited a second for the
 * next.
 */
export function createIsoTpReader(taker: IsoTpTaker): { take(frame: Uint8Array): void; forget(): void } {
  let begun: { packet: Uint8Array; length: number; counter: number } | undefined;
  const drop = (why: string) => {
    begun = undefined;
    taker.dropped(why);
  };
  const single = (frame: Uint8Array) => {
    const length = frame[0] as number;
    if (length === 0 || length > singleMax || frame.length <= length) return drop("a bad single frame");
    begun = undefined;
    taker.frame(frame.slice(1, 1 + length));
  };
  const first = (frame: Uint8Array) => {
    if (frame.length !== frameBytes) return drop("a first frame that is cut off");
    const wanted = (((frame[0] as number) & 15) << 8) | (frame[1] as number);
    if (wanted <= singleMax) return drop("a first frame of what fits a single one");
    if (wanted > packetBytesMax) {
      taker.answer(padded([0x32, 0, 0]));
      return drop("a packet that is too long");
    }
    begun = { packet: new Uint8Array(wanted), length: firstBytes, counter: 1 };
    begun.packet.set(frame.subarray(2));
    taker.answer(padded([0x30, blockSize, separationMs]));
  };
  const consecutive = (frame: Uint8Array) => {
    if (begun === undefined) return drop("a consecutive frame that nothing began");
    const { packet, length, counter } = begun;
    const more = frame.subarray(1, 1 + Math.min(nextBytes, packet.length - length));
    if (((frame[0] as number) & 15) !== (counter & 15)) return drop("a consecutive frame out of turn");
    if (more.length < Math.min(nextBytes, packet.length - length))
      return drop("a consecutive frame that is cut off");
    packet.set(more, length);
    begun.length += more.length;
    begun.counter += 1;
    if (begun.length === packet.length) {
      begun = undefined;
      taker.frame(packet);
    } else if (counter % blockSize === 0) taker.answer(padded([0x30, blockSize, separationMs]));
  };
  const take = (frame: Uint8Array) => {
    const kind = (frame[0] ?? 0xff) >> 4;
    if (kind === kinds.single) single(frame);
    else if (kind === kinds.first) first(frame);
    else if (kind === kinds.consecutive) consecutive(frame);
    else if (kind !== kinds.flow) taker.dropped("a frame of no known kind");
  };
  return {
    take,
    forget: () => {
      begun = undefined;
    },
  };
}
