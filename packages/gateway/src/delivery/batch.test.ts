import { expect, test } from "vitest";
import * as ws from "ws";
import { Batch, single, wholeOf } from "./batch.ts";

/** What a client's WebSocket library reads from these bytes. */
function read(bytes: Buffer): string[] {
  const { Receiver } = ws as unknown as { Receiver: new (options: object) => NodeJS.WritableStream };
  const texts: string[] = [];
  const receiver = new Receiver({ isServer: false, maxPayload: 1_000_000, allowSynchronousEvents: true });
  receiver.on("message", (data: Buffer, isBinary: boolean) => {
    expect(isBinary).toBe(false);
    texts.push(String(data));
  });
  receiver.on("error", (error: Error) => {
    throw error;
  });
  receiver.write(bytes);
  return texts;
}

const lengths = [0, 1, 125, 126, 127, 65_535, 65_536, 70_000];

test("[X0-5.2-3] one message is one text frame, whatever its length", () => {
  for (const length of lengths) {
    const [slice] = single("x".repeat(length));
    expect(slice).toMatchObject({ start: 0, end: 1 });
    expect(read(slice?.batch.frames(0, 1) ?? Buffer.alloc(0))).toEqual(["x".repeat(length)]);
  }
});

test("[X0-4-8] a batch is many frames, not one", () => {
  const texts = lengths.map((length) => "ü".repeat(length / 2)).concat("😀", "{}");
  const batch = new Batch(texts);
  expect(read(batch.frames(0, texts.length))).toEqual(texts);
});

test("every slice is exactly its messages, and shares the batch's memory", () => {
  const texts = ["a", "ü".repeat(200), "", "d".repeat(66_000), "e"];
  const batch = new Batch(texts);
  for (let start = 0; start <= texts.length; start += 1) {
    for (let end = start; end <= texts.length; end += 1) {
      const frames = batch.frames(start, end);
      expect(read(frames)).toEqual(texts.slice(start, end));
      if (end > start) expect(frames.buffer).toBe(batch.frames(0, texts.length).buffer);
    }
  }
  expect(wholeOf(batch)).toEqual({ batch, start: 0, end: 5 });
});
