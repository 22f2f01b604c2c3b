// What holds for all bytes: what is encoded is read back, and nothing that arrives breaks a reader.
import fc from "fast-check";
import { expect, test } from "vitest";
import { createCobsReader, decodeCobs, encodeCobs, frameCobs } from "./framing/cobs.ts";
import { createFrameAReader, encodeFrameA, type FrameA } from "./framing/frame-a.ts";
import { createGattReader, encodeGatt } from "./framing/gatt.ts";
import { createIsoTpReader, encodeIsoTp } from "./framing/iso-tp.ts";
import { createLengthPrefixReader, encodeLengthPrefix } from "./framing/length-prefix.ts";
import { type CanFrame, createSlcanReader, encodeSlcan } from "./framing/slcan.ts";
import { CborError, decodeCbor, encodeCbor } from "./wire/cbor.ts";
import { sealed, unsealed } from "./wire/crc.ts";
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
  expect(decodeJson(message("ü".repeat(4_000)))).toBeUndefined();
});

test("[AX-B-1] frames of profile A are read back; after any noise and a flush the next one is", () => {
  const frame = fc.record({
    type: fc.constantFrom(1, 2, 4),
    tool: fc.nat(255),
    seq: fc.nat(255),
    payload: fc.uint8Array({ maxLength: 1_024 }),
  });
  fc.assert(
    fc.property(frame, noise, fc.constantFrom(8, 16), (one, before, crc) => {
      const { frames, taker } = collect<FrameA>();
      const read = createFrameAReader(crc as 8 | 16, taker);
      read(before);
      // As long as the longest frame: whatever the noise began has ended.
      read(new Uint8Array(1_032));
      read(encodeFrameA(one, crc as 8 | 16));
      expect(frames.at(-1)).toEqual(one);
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

test("[AX-10.4-1] whatever a stub sends is a message or nothing", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), fc.string(), fc.json(), (bytes, text, json) => {
      for (const message of [
        decodePacket(bytes),
        decodePacket(sealed(bytes)),
        decodeJson(text),
        decodeJson(json),
      ]) {
        expect(message === undefined || typeof message.kind === "string").toBe(true);
      }
    }),
  );
});
