// Mutated frames for every decoder: laws that hold whatever is read, work and memory that its length bounds. The long
// version, of three million frames, is `npm run soak -- fuzz`.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { breakModule } from "./testing/fuzz/break-module.ts";
import { longBytes, shortBytes, type Work } from "./testing/fuzz/measure-work.ts";
import { mutate, recipes } from "./testing/fuzz/mutate.ts";
import { realDecoders } from "./testing/fuzz/real-decoders.ts";
import { type Decoders, type Subject, subjectsOf } from "./testing/fuzz/subjects.ts";

const subjects = subjectsOf(realDecoders);
const isLong = process.env.MCPX_SOAK !== undefined;
const framesEach = Math.ceil((isLong ? 3_000_000 : 6_000) / subjects.length);
/** What `npm test` finds is found again by the next one; the long version looks elsewhere each time. */
const controlSeed = 20_260_501;
const seed = isLong ? Date.now() % 2 ** 31 : controlSeed;
const patience = { timeout: isLong ? 1_800_000 : 30_000 };

/** Throws where a law is broken. */
function fuzz({ seeds, check }: Subject, options: fc.Parameters<unknown>): number {
  let frames = 0;
  fc.assert(
    fc.property(recipes, (recipe) => {
      frames += 1;
      check(mutate(seeds, recipe));
    }),
    options,
  );
  return frames;
}

test.each(subjects.map((subject) => [subject.name, subject] as const))(
  `[AX-10.4-1] ${framesEach} mutated frames break no law of %s`,
  patience,
  (_name, subject) => {
    if (isLong) console.info(`seed ${seed}`);
    expect(fuzz(subject, { numRuns: framesEach, seed })).toBe(framesEach);
  },
);

const faults: readonly [keyof Decoders, file: string, sound: string, broken: string, law: RegExp][] = [
  ["cbor", "wire/cbor.ts", "level > levelsMax", "level > 60", /too many levels/],
  [
    "cbor",
    "wire/cbor.ts",
    "count > reader.bytes.length - reader.at",
    "count > 9e9",
    /Invalid DataView length/,
  ],
  ["cbor", "wire/cbor.ts", 'new CborError("text that', 'new TypeError("text that', /not UTF-8/],
  [
    "lengthPrefix",
    "framing/length-prefix.ts",
    'byte === idleByte ? "idle" : "noise"',
    '"noise"',
    /next good/,
  ],
  [
    "frameAReader",
    "framing/frame-a-reader.ts",
    "|| length > headBytes + payloadBytesMax",
    "",
    /next good|out of bounds/,
  ],
  [
    "frameAReader",
    "framing/frame-a-reader.ts",
    "bytes > 0 && isSound(start, bytes)",
    "bytes > 0",
    /nobody has sent|can be read/,
  ],
  ["gatt", "framing/gatt.ts", "> packetBytesMax) return", "> 9e9) return", /out of bounds/],
  [
    "gatt",
    "framing/gatt.ts",
    "(head & counterMask) !== (begun.counter & counterMask)",
    "false",
    /nobody has sent/,
  ],
  ["isoTp", "framing/iso-tp.ts", "!== (counter & 15)", "=== 99", /nobody has sent/],
  ["isoTp", "framing/iso-tp.ts", "wanted > packetBytesMax", "wanted > 9e9", /out of bounds|more than/],
  [
    "slcan",
    "framing/slcan.ts",
    "else if (byte === bell)",
    "else if (byte === 0x33)",
    /next good|handed over/,
  ],
  ["layout", "tools/layout.ts", "|| content.length < length", "", /bounds|read again|cannot be written/],
  ["mqttMessage", "wire/mqtt-message.ts", "bytes.length > jsonBytesMax", "false", /too long/],
];

test.each(faults)(
  "control: a fault planted in %s (%s, %s) is found",
  async (name, file, sound, broken, law) => {
    const decoders = { ...realDecoders, [name]: await breakModule(file, sound, broken) };
    const found: unknown[] = [];
    for (const subject of subjectsOf(decoders).filter(({ of }) => of === name)) {
      try {
        fuzz(subject, { numRuns: 3_000, seed: controlSeed, endOnFailure: true });
      } catch (error) {
        found.push((error as Error).cause);
      }
    }
    expect(found.map(String)).toContainEqual(expect.stringMatching(law));
  },
);

let work: Map<string, Work>;

beforeAll(async () => {
  const program = join(import.meta.dirname, "testing", "fuzz", "measure-work.ts");
  const args = ["--conditions=mcpx-source", "--expose-gc", program];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  work = new Map((JSON.parse(stdout) as Work[]).map((one) => [one.name, one]));
});

/** A start byte of profile A is looked at with what follows it, wherever one stands. */
const stepsPerByte = 28;
const keptBytesMax = longBytes / 2;

test("[AX-10.4-1] steps are bounded by what there is to read, and what is kept by the longest packet", () => {
  const isControl = ({ name }: Work) => name.startsWith("control");
  const all = [...work.values()];
  expect(all.filter((one) => !isControl(one)).length).toBeGreaterThan(15);
  const tooMuch = all.filter(
    ({ steps: [few, many], keptBytes }) =>
      few > shortBytes * stepsPerByte || many > 4 * shortBytes * stepsPerByte || keptBytes > keptBytesMax,
  );
  expect(tooMuch.map(({ name }) => name)).toEqual(all.filter(isControl).map(({ name }) => name));
});
