import { expect, test } from "vitest";
import { frameCobs } from "../framing/cobs.ts";
import { sealed } from "../framing/crc.ts";
import { encodeFrameA } from "../framing/frame-a.ts";
import { encodeRequest } from "../wire/message.ts";
import { type SeenFrame, type WatchedLine, watchFrames } from "./watch-frames.ts";

function seen(watched: WatchedLine, bytes: Uint8Array): [boolean, string][] {
  const frames: SeenFrame[] = [];
  watchFrames(watched, (frame) => frames.push(frame))(bytes);
  return frames.map(({ isRead, text }) => [isRead, text]);
}

test("frames of either profile are shown in words, in either direction", () => {
  const b: WatchedLine = { profile: "b", encoding: "cbor" };
  expect(seen(b, frameCobs(encodeRequest(2, 7, [1, "on", Uint8Array.of(1)])))).toEqual([
    [true, `tool 2 id 7 params {0: 1, 1: "on", 2: h'01'}`],
  ]);
  expect(seen(b, frameCobs(encodeRequest(-2, 9, [])))).toEqual([[true, "heartbeat id 9"]]);
  const answer = Buffer.from("a2020705a10003", "hex");
  expect(seen({ ...b, encoding: "packet" }, sealed(answer))).toEqual([[true, "id 7 error {0: 3}"]]);
  const frame = { type: 1, tool: 2, seq: 7, payload: Uint8Array.of(1, 0xff) };
  for (const crc of [8, 16] as const) {
    expect(seen({ profile: "a", encoding: "cbor", crc }, encodeFrameA(frame, crc))).toEqual([
      [true, "call tool 2 seq 7 01 ff"],
    ]);
  }
});

test("what cannot be read is shown as that", () => {
  const b: WatchedLine = { profile: "b", encoding: "cbor" };
  expect(seen(b, frameCobs(Uint8Array.of(1, 2, 3, 4)))).toEqual([[false, "a packet with a wrong CRC"]]);
  expect(seen(b, frameCobs(sealed(Uint8Array.of(0xff))))).toEqual([
    [false, expect.stringMatching(/^not a message of profile B: /)],
  ]);
  expect(seen(b, frameCobs(sealed(Uint8Array.of(1))))).toEqual([[false, "no message: 1"]]);
  expect(seen(b, Uint8Array.of(0, 9, 1, 0))).toEqual([[false, "a frame that is not COBS"]]);
});
