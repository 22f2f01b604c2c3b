// Run as a program of its own, so that nothing has been compiled before it counts: how many steps every decoder takes
// for what costs it most, and how much a reader keeps of what never ends. Prints JSON.
import { Session } from "node:inspector/promises";
import { realDecoders } from "./real-decoders.ts";
import { splitPieces } from "./seeds.ts";

export interface Work {
  name: string;
  /** For so many bytes, and for four times as many. */
  steps: [number, number];
  /** By one reader, of `longBytes` that never end. */
  keptBytes: number;
}

export const shortBytes = 1_000;
export const longBytes = 32_768;

interface Costly {
  name: string;
  /** Repeated until it is long enough. */
  unit: readonly number[];
  /** Where it has to wait for more. */
  isEndless?: true;
  open(): (bytes: Uint8Array) => unknown;
}

const { cobs, frameAReader, lengthPrefix, slcan, gatt, isoTp, cbor, mqttMessage, layout } = realDecoders;
const taker = { frame: () => {}, dropped: () => {}, answer: () => {} };
const text = (word: string) => [...Buffer.from(word)];

const inPieces = (take: (piece: Uint8Array) => void) => (bytes: Uint8Array) => {
  for (const piece of splitPieces(bytes)) take(piece);
};
const ofA = () => frameAReader.createFrameAReader(16, taker);
const ofGatt = () => inPieces(gatt.createGattReader(taker));
const ofIsoTp = () => inPieces(isoTp.createIsoTpReader(taker).take);
const ofCbor = () => (bytes: Uint8Array) => {
  try {
    return cbor.decodeCbor(bytes);
  } catch (error) {
    if (!(error instanceof cbor.CborError)) throw error;
    return undefined;
  }
};
const tagged = [{ name: "speed", type: "u16", tag: 9 } as const];
const ofTlv = () => (bytes: Uint8Array) => layout.decodeLayout("tlv", tagged, bytes);

const costly: Costly[] = [
  { name: "COBS without an end", unit: [1], isEndless: true, open: () => cobs.createCobsReader(taker) },
  { name: "COBS, empty frames", unit: [0], open: () => cobs.createCobsReader(taker) },
  { name: "COBS, frames of zeros", unit: [1, 1, 1, 0], open: () => cobs.createCobsReader(taker) },
  { name: "profile A, beginnings", unit: [0x7e], open: ofA },
  { name: "profile A, impossible lengths", unit: [0x7e, 0], open: ofA },
  { name: "profile A, the longest", unit: [0x7e, 0x84, 0x03, 0x02], isEndless: true, open: ofA },
  { name: "profile A, short and broken", unit: [0x7e, 4, 2, 2, 7, 0, 1, 1], open: ofA },
  { name: "profile A, the shortest, one in the other", unit: [0x7e, 3, 1], open: ofA },
  {
    name: "length prefix, impossible",
    unit: [0, 0, 0xff],
    open: () => lengthPrefix.createLengthPrefixReader(taker),
  },
  {
    name: "length prefix, of one byte",
    unit: [0, 1, 7],
    open: () => lengthPrefix.createLengthPrefixReader(taker),
  },
  {
    name: "SLCAN without an end",
    unit: text("t"),
    isEndless: true,
    open: () => slcan.createSlcanReader(taker),
  },
  { name: "SLCAN, frames", unit: text("t5051AB\r"), open: () => slcan.createSlcanReader(taker) },
  { name: "GATT, beginnings", unit: [2, 0x80, 7], open: ofGatt },
  {
    name: "GATT without an end",
    unit: [5, 0x80, 1, 2, 3, 4, 5, 0x01, 1, 2, 3, 4],
    isEndless: true,
    open: ofGatt,
  },
  { name: "GATT, out of turn", unit: [2, 0x05, 7], open: ofGatt },
  { name: "ISO-TP, beginnings", unit: [8, 0x14, 0, 1, 2, 3, 4, 5, 6], isEndless: true, open: ofIsoTp },
  { name: "ISO-TP, out of turn", unit: [8, 0x25, 0, 1, 2, 3, 4, 5, 6], open: ofIsoTp },
  { name: "CBOR, levels", unit: [0x81], open: ofCbor },
  { name: "CBOR, entries", unit: [0x98, 64, ...Array.from({ length: 64 }, () => 0)], open: ofCbor },
  { name: "MQTT, levels", unit: text("["), open: () => mqttMessage.decodeJsonBytes },
  { name: "TLV, unknown tags", unit: [5, 0], open: ofTlv },
  { name: "control: looks at everything again", unit: [1], open: lookAgain },
  { name: "control: keeps everything", unit: [1], isEndless: true, open: keepAll },
];

/** For every sixteenth byte. */
function lookAgain(): (bytes: Uint8Array) => number {
  return (bytes) => {
    let zeros = 0;
    for (let end = 0; end < bytes.length; end += 16) {
      for (let at = 0; at < end; at += 1) if (bytes[at] === 0) zeros += 1;
    }
    return zeros;
  };
}

function keepAll(): (bytes: Uint8Array) => number {
  const kept: Uint8Array[] = [];
  return (bytes) => kept.push(bytes.slice());
}

function repeated(unit: readonly number[], length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, at) => unit[at % unit.length] as number);
}

/** Blocks of our own code that were run, by V8's own count. */
async function stepsOf(session: Session, run: () => unknown): Promise<number> {
  await session.post("Profiler.takePreciseCoverage");
  run();
  const { result } = await session.post("Profiler.takePreciseCoverage");
  const ours = result.filter(({ url }) => url.includes("/packages/devices/src/"));
  const ranges = ours.flatMap(({ functions }) => functions.flatMap((one) => one.ranges));
  return ranges.reduce((total, { count }) => total + count, 0);
}

const readersCount = 8;

/** Handed over bit by bit, as a line does; many readers, so that what else is in memory does not count. */
function keptBy({ unit, open }: Costly): number {
  const readers = Array.from({ length: readersCount }, open);
  const bytes = repeated(unit, longBytes);
  const before = inMemory();
  for (const read of readers) {
    for (let at = 0; at < bytes.length; at += 1_024) read(bytes.subarray(at, at + 1_024));
  }
  const kept = inMemory() - before;
  // They are there until now.
  return readers.length === readersCount ? kept / readersCount : 0;
}

function inMemory(): number {
  // What the first finds, the second takes away.
  for (let times = 0; times < 2; times += 1) globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

async function measure(session: Session, one: Costly): Promise<Work> {
  const steps: number[] = [];
  for (const length of [shortBytes, 4 * shortBytes]) {
    const [bytes, read] = [repeated(one.unit, length), one.open()];
    steps.push(await stepsOf(session, () => read(bytes)));
  }
  return { name: one.name, steps: steps as [number, number], keptBytes: 0 };
}

if (import.meta.main) {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  const measured: Work[] = [];
  for (const one of costly) measured.push(await measure(session, one));
  await session.post("Profiler.stopPreciseCoverage");
  session.disconnect();
  for (const [at, one] of costly.entries()) if (one.isEndless) (measured[at] as Work).keptBytes = keptBy(one);
  process.stdout.write(JSON.stringify(measured));
}
