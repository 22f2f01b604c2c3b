import { expect, test } from "vitest";
import { Batch, wholeOf } from "../delivery/batch.ts";
import { deliverMessage, readDeliverMessage, readStreamMessage, streamMessage } from "./peer-frames.ts";

test("a batch goes over once, and each stream gets the frames that are its own", () => {
  const batch = new Batch(["first", "ü".repeat(100), "x".repeat(70_000)]);
  const other = new Batch(["ack"]);
  const outgoing = [
    { stream: 1, slice: wholeOf(batch) },
    { stream: 2, slice: { batch, start: 1, end: 2 } },
    { stream: 2, slice: wholeOf(other) },
    { stream: 4_294_967_295, slice: { batch, start: 1, end: 3 } },
  ];
  const message = deliverMessage(outgoing);
  const framesBytes = batch.frames(0, 3).length + other.frames(0, 1).length;
  expect(message.length).toBe(4 + 4 * 14 + framesBytes);
  expect(readDeliverMessage(message)).toEqual(
    outgoing.map(({ stream, slice: { batch: of, start, end } }) => ({
      stream,
      frames: of.frames(start, end),
      envelopes: end - start,
    })),
  );
});

test("a delivery that is cut short, or names what it does not have, is refused", () => {
  const message = deliverMessage([{ stream: 1, slice: wholeOf(new Batch(["hello"])) }]);
  expect(readDeliverMessage(message)).toHaveLength(1);
  for (let length = 0; length < message.length; length += 1) {
    expect(() => readDeliverMessage(message.subarray(0, length))).toThrow(RangeError);
  }
  message.writeUInt32BE(4_000_000_000, 0);
  expect(() => readDeliverMessage(message)).toThrow(RangeError);
});

test("other messages carry a stream and a text", () => {
  for (const body of ["", "ü😀", "{}"]) {
    expect(readStreamMessage(streamMessage(7, body))).toEqual({ stream: 7, body });
  }
  expect(() => readStreamMessage(Buffer.alloc(3))).toThrow(RangeError);
});
