// What holds for all bytes: what is encoded is read back, and nothing that arrives breaks a reader.
import fc from "fast-check";
import { expect, test } from "vitest";
import { createCobsReader, decodeCobs, encodeCobs, frameCobs } from "./framing/cobs.ts";
import { crc8, crc16, sealed, unsealed } from "./framing/crc.ts";
import { encodeFrameA, type FrameA } from "./framing/frame-a.ts";
import { createFrameAReader } from "./framing/frame-a-reader.ts";
import { createGattReader, encodeGatt } from "./framing/gatt.ts";
import { createIsoTpReader, encodeIsoTp } from "./framing/iso-tp.ts";
import { createLengthPrefixReader, encodeLengthPrefix } from "./framing/length-prefix.ts";
import { type CanFrame, createSlcanReader, encodeSlcan } from "./framing/slcan.ts";
import { createSpanCrc } from "./framing/span-crc.ts";
import { CborError, decodeCbor, encodeCbor } from "./wire/cbor.ts";
import { decodePacket } from "./wire/message.ts";
import { decodeJson } from "./wire/mqtt-message.ts";

const packets = fc.uint8Array({ minLength: 1, maxLength: 1_024 });
const noise = fc.uint8Array({ maxLength: 2_100 });

function collect<T>(): { frames: T[]; taker: { frame(frame: T): void; dropped(): void; answer(): void } } {
  const frames: T[] = [];
  return {
    frames,
    taker: { frame: (frame) => void frames.push(frame), dropped: () => {}, answer: () => {} },
  };
}

test("[AX-8.1-1] COBS has no zero and is undone; after any noise the next frame is read", () => {
  fc.assert(
    fc.property(packets, noise, (packet, before) => {
      expect(encodeCobs(packet)).not.toContain(0);
      expect(decodeCobs(encodeCobs(packet))).toEqual(packet);
      const { frames, taker } = collect<Uint8Array>();
      const read = createCobsReader(taker);
      read(before);
      read(frameCobs(packet));
      expect(frames.at(-1)).toEqual(packet);
    }),
  );
});

test("[AX-8.1-1] a packet that is too long is dropped, however little room it takes encoded", () => {
  const { frames, taker } = collect<Uint8Array>();
  const read = createCobsReader(taker);
  for (const length of [1_025, 1_028, 1_024]) read(frameCobs(new Uint8Array(length)));
  expect(frames.map(({ length }) => length)).toEqual([1_024]);
});

test("[AX-8.1-5] a message in JSON has at most 4096 bytes, not characters", () => {
  const message = (text: string) => JSON.stringify({ id: 1, result: { 0: text } });
  expect(decodeJson(message("x".repeat(4_000)))).toMatchObject({ kind: "result" });
  expect(decodeJson(message("ü".repeat(4_000)))).toMatchObject({ kind: "unreadable" });
});

/** What a stub may send: a heartbeat has at most a status, everything else any payload, of either width of LEN. */
const framesA = fc.oneof(
  fc.record({
    type: fc.constant(4),
    tool: fc.nat(255),
    seq: fc.nat(255),
    payload: fc.uint8Array({ maxLength: 1 }),
  }),
  fc.record({
    type: fc.constantFrom(1, 2, 3),
    tool: fc.nat(255),
    seq: fc.nat(255),
    payload: fc.oneof(
      // Around the lengths that look like start bytes, or need a second byte.
      fc
        .integer({ min: 120, max: 128 })
        .chain((length) => fc.uint8Array({ minLength: length, maxLength: length })),
      fc.uint8Array({ maxLength: 1_024 }),
      fc.uint8Array({ maxLength: 40 }),
    ),
  }),
);
/** Start bytes and lengths are commoner in it than chance makes them. */
const noiseA = fc.array(fc.oneof(fc.nat(255), fc.constantFrom(0x7e, 0x7e, 0x7e, 2, 3, 4, 0x84)), {
  maxLength: 300,
});
const crcWidths = fc.constantFrom<8 | 16>(8, 16);
const readInPieces = (read: (bytes: Uint8Array) => void, bytes: Uint8Array, size: number) => {
  for (let at = 0; at < bytes.length; at += size) read(bytes.subarray(at, at + size));
};

test("[AX-B-1] frames of profile A of any length are read one after the other, however they are cut into pieces", () => {
  fc.assert(
    fc.property(
      fc.array(framesA, { maxLength: 6 }),
      crcWidths,
      fc.integer({ min: 1, max: 200 }),
      (sent, crc, size) => {
        const { frames, taker } = collect<FrameA>();
        const stream = Buffer.concat(sent.map((one) => encodeFrameA(one, crc)));
        readInPieces(createFrameAReader(crc, taker), stream, size);
        expect(frames).toEqual(sent);
      },
    ),
  );
});

test("[AX-B-1] a frame of profile A of any length is read after any noise and start bytes: at once, or when the line is silent", () => {
  fc.assert(
    fc.property(framesA, noiseA, fc.nat(5), crcWidths, (one, before, doubled, crc) => {
      const { frames, taker } = collect<FrameA>();
      const read = createFrameAReader(crc, taker);
      const noise = [...before, ...Array.from({ length: doubled }, () => 0x7e)];
      // Noise that is a frame, or the beginning of a sound one, is rare, but a CRC of 8 bits lets one in 256 through.
      fc.pre(!holdsFrame(Uint8Array.from([...noise, ...encodeFrameA(one, crc)]), noise.length, crc));
      read(Uint8Array.from(noise));
      read(encodeFrameA(one, crc));
      read.settle();
      expect(frames.at(-1)).toEqual(one);
      // Nothing is left of the noise: the next one is read at once.
      read(encodeFrameA(one, crc));
      expect(frames.slice(-2)).toEqual([one, one]);
    }),
    { numRuns: 2_000 },
  );
});

/** Whether a sound frame begins before `at` and reaches past it. Looks everywhere, by the plain CRC. */
function holdsFrame(bytes: Uint8Array, at: number, crc: 8 | 16): boolean {
  for (let start = 0; start < at; start += 1) {
    for (let end = at + 1; end <= bytes.length && bytes[start] === 0x7e; end += 1) {
      const body = bytes.subarray(start + 1, end);
      const sum = crc === 16 ? crc16(body) : crc8(body);
      if (sum === 0 && body.length > 3) return true;
    }
  }
  return false;
}

test("[AX-B-1] doubled start bytes before an answer delay nothing: it is read at once", () => {
  const answers = fc.record({
    type: fc.constant(2),
    tool: fc.nat(255),
    seq: fc.nat(255),
    payload: fc.uint8Array({ minLength: 1, maxLength: 1_024 }),
  });
  fc.assert(
    fc.property(answers, fc.integer({ min: 1, max: 9 }), crcWidths, (one, doubled, crc) => {
      const { frames, taker } = collect<FrameA>();
      const read = createFrameAReader(crc, taker);
      read(new Uint8Array(doubled).fill(0x7e));
      read(encodeFrameA(one, crc));
      expect(frames).toEqual([one]);
    }),
  );
});

test("the CRC of any stretch of a stream is the one that goes over its bytes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 3, maxLength: 300 }), fc.nat(), crcWidths, (bytes, cut, crc) => {
      const spans = createSpanCrc(crc, 300);
      const remainders = [0];
      for (const byte of bytes) remainders.push(spans.step(remainders.at(-1) as number, byte));
      const start = cut % (bytes.length - 2);
      const sums = { 8: crc8, 16: crc16 };
      for (let end = start + 2; end <= bytes.length; end += 1) {
        const [before, after] = [remainders[start], remainders[end]] as [number, number];
        const isSound = sums[crc](bytes.subarray(start, end)) === 0;
        expect(spans.isSound(before, after, end - start)).toBe(isSound);
      }
      // One that is sound, since chance makes few.
      const sealedBytes = encodeFrameA({ type: 1, tool: 1, seq: 1, payload: bytes }, crc).subarray(1);
      const end = [...sealedBytes].reduce(
        (remainder, byte) => spans.step(remainder, byte),
        remainders.at(-1) as number,
      );
      expect(spans.isSound(remainders.at(-1) as number, end, sealedBytes.length)).toBe(true);
    }),
  );
});

test("[AX-8.1-2] [AX-8.1-3] [AX-8.1-4] lengths, chunks and ISO-TP are undone, and survive noise", () => {
  fc.assert(
    fc.property(packets, fc.array(fc.uint8Array({ maxLength: 9 }), { maxLength: 30 }), (packet, before) => {
      const prefixed = collect<Uint8Array>();
      createLengthPrefixReader(prefixed.taker)(encodeLengthPrefix(packet));
      const chunked = collect<Uint8Array>();
      const takeChunk = createGattReader(chunked.taker);
      const segmented = collect<Uint8Array>();
      const { take } = createIsoTpReader(segmented.taker);
      for (const piece of before) {
        takeChunk(piece);
        take(piece);
      }
      for (const chunk of encodeGatt(packet)) takeChunk(chunk);
      for (const frame of encodeIsoTp(packet)) take(frame);
      for (const { frames } of [prefixed, chunked, segmented]) expect(frames.at(-1)).toEqual(packet);
    }),
  );
});

test("[AX-8.1-4] frames of SLCAN are undone; after any noise and an end of line the next one is read", () => {
  const frame = fc.record({ id: fc.nat(0x7ff), data: fc.uint8Array({ maxLength: 8 }) });
  fc.assert(
    fc.property(frame, noise, (one, before) => {
      const { frames, taker } = collect<CanFrame>();
      const read = createSlcanReader(taker);
      read(before);
      read(Uint8Array.of(0x0d));
      read(encodeSlcan(one));
      expect(frames.at(-1)).toEqual(one);
    }),
  );
});

test("a CRC-16 finds every burst of up to 16 bits", () => {
  const flips = fc.record({ at: fc.nat(), burst: fc.integer({ min: 1, max: 0xffff }) });
  fc.assert(
    fc.property(packets, flips, (packet, { at, burst }) => {
      const damaged = sealed(packet);
      const offset = at % (damaged.length - 1);
      damaged[offset] = (damaged[offset] as number) ^ (burst >> 8);
      damaged[offset + 1] = (damaged[offset + 1] as number) ^ (burst & 0xff);
      expect(unsealed(damaged)).toBeUndefined();
      expect(unsealed(sealed(packet))).toEqual(packet);
    }),
  );
});

test("[AX-8.2-1] there is one way to write a value: what can be read is written the same", () => {
  const read = (bytes: Uint8Array) => {
    try {
      return { value: decodeCbor(bytes) };
    } catch (error) {
      expect(error).toBeInstanceOf(CborError);
      return undefined;
    }
  };
  // Small bytes make maps, arrays and numbers more often than chance does.
  const likely = fc.oneof(
    fc.nat(255),
    fc.constantFrom(0, 1, 0x18, 0x20, 0x41, 0x61, 0x81, 0xa0, 0xa1, 0xa2, 0xf5),
  );
  fc.assert(
    fc.property(fc.array(likely, { maxLength: 40 }), (numbers) => {
      const bytes = Uint8Array.from(numbers);
      const decoded = read(bytes);
      if (decoded !== undefined && !numbers.includes(0xfa)) expect(encodeCbor(decoded.value)).toEqual(bytes);
    }),
    { numRuns: 2_000 },
  );
});

test("[AX-10.4-1] whatever a stub sends is a message, or is said to be none", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), fc.string(), fc.json(), (bytes, text, json) => {
      for (const message of [
        decodePacket(bytes),
        decodePacket(sealed(bytes)),
        decodeJson(text),
        decodeJson(json),
      ]) {
        expect(["result", "error", "announcement", "event", "unreadable"]).toContain(message.kind);
      }
    }),
  );
});
