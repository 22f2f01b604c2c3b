import { encodeRequest, frameCobs, type LineTaker } from "@mcpx/devices";
import { createManualClock } from "@mcpx/host";
import { expect, test } from "vitest";
import { watchDevice } from "./watched-device.ts";

const heartbeat = (id: number) => frameCobs(encodeRequest(-2, id, []));

async function watched(crc: 0 | 16 = 16) {
  const clock = createManualClock();
  const sent: Uint8Array[] = [];
  const heard: Uint8Array[] = [];
  let taker: LineTaker | undefined;
  const config = { segment: "lamp", profile: "b", encoding: "cbor", crc, tools: [] } as const;
  const device = watchDevice(
    {
      config,
      openLine: async (given) => {
        taker = given;
        return { write: (bytes) => sent.push(bytes) > 0, close: () => {} };
      },
    },
    clock,
  );
  const line = await device.openLine({ bytes: (bytes) => heard.push(bytes), ended: () => {} });
  const texts = (after?: number) =>
    (device.frames(after).frames as { from: string; text: string }[]).map(
      ({ from, text }) => `${from} ${text}`,
    );
  const reopen = () => device.openLine({ bytes: () => {}, ended: () => {} });
  return { clock, sent, heard, line, reopen, texts, say: (bytes: Uint8Array) => taker?.bytes(bytes) };
}

test("frames of both directions are kept from the first question on, and only while somebody asks", async () => {
  const { clock, line, texts, say, sent, heard } = await watched();
  line.write(heartbeat(1));
  expect(texts()).toEqual([]);
  line.write(heartbeat(2));
  say(heartbeat(3));
  expect(texts(0)).toEqual(["gateway heartbeat id 2", "device heartbeat id 3"]);
  expect(texts(1)).toEqual(["device heartbeat id 3"]);
  clock.advance(10_001);
  line.write(heartbeat(4));
  expect(texts(2)).toEqual([]);
  line.write(heartbeat(5));
  expect(texts(2)).toEqual(["gateway heartbeat id 5"]);
  // Whoever looks on changes nothing for the device and the gateway.
  expect([sent.length, heard.length]).toEqual([4, 1]);
});

test("half a frame from before somebody looked away, or of the line before, spoils none", async () => {
  const { clock, line, reopen, texts } = await watched();
  const [begin, end] = [heartbeat(1).subarray(0, 4), heartbeat(1).subarray(4)];
  texts();
  line.write(begin);
  clock.advance(10_001);
  line.write(end);
  texts();
  line.write(heartbeat(2));
  line.write(begin);
  (await reopen()).write(heartbeat(3));
  expect(texts(0)).toEqual(["gateway heartbeat id 2", "gateway heartbeat id 3"]);
});

test("a thousand frames keep the newest, and what cannot be read says so", async () => {
  const { line, texts, say } = await watched();
  texts();
  for (let id = 1; id <= 1_000; id += 1) line.write(heartbeat(id));
  say(frameCobs(Uint8Array.of(1, 2, 3, 4)));
  const kept = texts(0);
  expect(kept).toHaveLength(200);
  expect(kept.slice(-2)).toEqual(["gateway heartbeat id 1000", "device a packet with a wrong CRC"]);
});

test("a device that is configured without a CRC is read without one", async () => {
  const { line, texts } = await watched(0);
  texts();
  line.write(frameCobs(encodeRequest(-2, 7, []).subarray(0, -2)));
  expect(texts(0)).toEqual(["gateway heartbeat id 7"]);
});
