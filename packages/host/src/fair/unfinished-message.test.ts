import fc from "fast-check";
import { expect, test } from "vitest";
import { UnfinishedMessage } from "./unfinished-message.ts";

const [text, more, ping] = [0x1, 0x0, 0x9];

function frame(opcode: number, length: number, { fin = true, masked = true } = {}): Buffer {
  const second = masked ? 0x80 : 0;
  const size = Buffer.alloc(length < 126 ? 0 : length < 65_536 ? 2 : 8);
  if (size.length === 2) size.writeUInt16BE(length);
  if (size.length === 8) size.writeBigUInt64BE(BigInt(length));
  const short = length < 126 ? length : length < 65_536 ? 126 : 127;
  const head = Buffer.from([(fin ? 0x80 : 0) | opcode, second | short]);
  // As hostile as a payload can look: each of its bytes could begin a frame.
  return Buffer.concat([head, size, Buffer.alloc(masked ? 4 : 0, 0x01), Buffer.alloc(length, 0x01)]);
}

test("of whole messages nothing is left, whatever their sizes and wherever they are cut", () => {
  const one = fc.record({
    length: fc.oneof(fc.integer({ min: 0, max: 130 }), fc.constantFrom(65_535, 65_536, 70_000)),
    frames: fc.integer({ min: 1, max: 4 }),
    masked: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(one, { maxLength: 6 }), fc.integer({ min: 1, max: 3_000 }), (messages, cut) => {
      const bytes = Buffer.concat(
        messages.flatMap(({ length, frames, masked }) =>
          Array.from({ length: frames }, (_, i) =>
            frame(i === 0 ? text : more, length, { fin: i === frames - 1, masked }),
          ),
        ),
      );
      const unfinished = new UnfinishedMessage();
      for (let at = 0; at < bytes.length; at += cut) unfinished.take(bytes.subarray(at, at + cut));
      expect(unfinished.bytes).toBe(0);
      // Control: a byte of a next one is something again.
      unfinished.take(Buffer.from([0x81]));
      expect(unfinished.bytes).toBeGreaterThan(0);
    }),
    { numRuns: 200 },
  );
});

test("each frame counts for what it takes in memory, and so does each piece", () => {
  const unfinished = new UnfinishedMessage();
  unfinished.take(frame(text, 1, { fin: false }));
  for (let i = 0; i < 999; i += 1) unfinished.take(frame(more, 1, { fin: false }));
  expect(unfinished.bytes).toBeGreaterThan(1_000 * (7 + 100 + 100));
  unfinished.take(frame(more, 0));
  expect(unfinished.bytes).toBe(0);
  const inOnePiece = Array.from({ length: 100 }, (_, i) => frame(i === 0 ? text : more, 1, { fin: false }));
  unfinished.take(Buffer.concat(inOnePiece));
  expect(unfinished.bytes).toBeGreaterThan(100 * 100);
});

test("control frames count inside a message, whose pieces they keep, and not between two", () => {
  const unfinished = new UnfinishedMessage();
  for (let i = 0; i < 1_000; i += 1) unfinished.take(frame(ping, 125));
  expect(unfinished.bytes).toBe(0);
  unfinished.take(frame(text, 1, { fin: false }));
  for (let i = 0; i < 1_000; i += 1) unfinished.take(frame(ping, 125));
  expect(unfinished.bytes).toBeGreaterThan(125_000);
  unfinished.take(Buffer.concat([frame(more, 1), frame(text, 500).subarray(0, 300)]));
  expect(unfinished.bytes).toBeGreaterThan(300);
  expect(unfinished.bytes).toBeLessThan(1_000);
});
