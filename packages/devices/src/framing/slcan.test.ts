import { expect, test } from "vitest";
import { type CanFrame, createSlcanReader, encodeSlcan, slcanOpening } from "./slcan.ts";

function read(...pieces: string[]): { frames: CanFrame[]; dropped: number } {
  const frames: CanFrame[] = [];
  let dropped = 0;
  const take = createSlcanReader({
    frame: (frame) => frames.push(frame),
    dropped: () => {
      dropped += 1;
    },
  });
  for (const piece of pieces) take(Buffer.from(piece, "latin1"));
  return { frames, dropped };
}

test("[AX-8.1-4] frames are written as adapters read them", () => {
  const frame = { id: 0x405, data: Uint8Array.of(0x03, 0xa2, 0xff) };
  expect(Buffer.from(encodeSlcan(frame)).toString()).toBe("t405303A2FF\r");
  expect(read("t405303A2FF\r").frames).toEqual([frame]);
  expect(Buffer.from(slcanOpening(500_000)).toString()).toBe("\rC\rS6\rO\r");
  expect(() => slcanOpening(123)).toThrow(/bitrate is one of/);
});

test("[AX-8.1-4] frames in pieces, with a time behind them, between answers and refusals, are read", () => {
  const { frames, dropped } = read("\r\rz\rt50", "51AB", "\r\u0007t5051CD12F", "0\rV1013\r");
  expect(frames.map(({ id, data }) => [id, ...data])).toEqual([
    [0x505, 0xab],
    [0x505, 0xcd],
  ]);
  expect(dropped).toBe(0);
});

test("[AX-8.1-4] what is no frame is dropped, and the next one is read", () => {
  for (const bad of ["t9991AB", "t5059AB", "t5052AB", "t5051XY", "t505", `t5051${"A".repeat(5_000)}`]) {
    const { frames, dropped } = read(`${bad}\rt5051AB\r`);
    expect([bad.slice(0, 8), frames.length, dropped]).toEqual([bad.slice(0, 8), 1, 1]);
  }
});
