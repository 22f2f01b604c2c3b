// What a stub says unasked, in every way it may be written.
import { expect, test } from "vitest";
import { frameCobs } from "../framing/cobs.ts";
import { sealed } from "../framing/crc.ts";
import { encodeFrameA } from "../framing/frame-a.ts";
import { type CborValue, encodeCbor } from "../wire/cbor.ts";
import type { DeviceConfig, EventConfig } from "./device-config.ts";
import { notificationOf, type SaidEvent } from "./read-event.ts";
import { createStubA } from "./stub-a.ts";
import { createStubB } from "./stub-b.ts";

const eventsOf = (type: "u16" | "uint"): EventConfig[] => [
  { id: 1, name: "overheat", alarm: true, fields: [{ name: "celsius", type, scale: 0.01, maximum: 200 }] },
  { id: 2, name: "door" },
  { id: 3, name: "card", fields: [{ name: "card", type: "bytes", length: 2 }] },
];

function open(config: Partial<DeviceConfig> & Pick<DeviceConfig, "profile">) {
  const heard = { said: [] as SaidEvent[], dropped: [] as string[], heard: 0 };
  const create = config.profile === "a" ? createStubA : createStubB;
  const stub = create(
    { segment: "lamp", tools: [], events: eventsOf(config.profile === "a" ? "u16" : "uint"), ...config },
    {
      said: (event) => heard.said.push(event),
      dropped: (why) => heard.dropped.push(why),
      heard: () => {
        heard.heard += 1;
      },
      restarted: () => {},
      replaced: () => {},
    },
  );
  return { ...heard, say: stub.readLine(), heardCount: () => heard.heard };
}

const message = (event: CborValue, values: CborValue) =>
  encodeCbor(
    new Map<number, CborValue>([
      [1, -3],
      [
        3,
        new Map([
          [0, event],
          [1, values],
        ]),
      ],
    ]),
  );
const map = (...values: CborValue[]) => new Map(values.entries());
const frame = (tool: number, ...payload: number[]) =>
  encodeFrameA({ type: 5, tool, seq: 0, payload: Uint8Array.from(payload) }, 16);
const json = (event: unknown, values: unknown) =>
  Buffer.from(JSON.stringify({ method: -3, params: { 0: event, 1: values } }));

const ways = [
  {
    way: "profile A",
    config: { profile: "a" },
    hot: frame(1, 0x21, 0xfc),
    door: frame(2),
    card: frame(3, 1, 2),
    unknown: frame(9),
    wrong: frame(1, 1),
    outOfBounds: frame(1, 0xff, 0xff),
  },
  {
    way: "profile B in COBS",
    config: { profile: "b" },
    hot: frameCobs(sealed(message(1, map(8_700)))),
    door: frameCobs(sealed(message(2, map()))),
    card: frameCobs(sealed(message(3, map(Uint8Array.of(1, 2))))),
    unknown: frameCobs(sealed(message(9, map()))),
    wrong: frameCobs(sealed(message(1, map(true)))),
    outOfBounds: frameCobs(sealed(message(1, map(65_535)))),
  },
  {
    way: "profile B in frames",
    config: { profile: "b", encoding: "frame" },
    hot: frame(1, ...encodeCbor(map(8_700))),
    door: frame(2, 0xa0),
    card: frame(3, ...encodeCbor(map(Uint8Array.of(1, 2)))),
    unknown: frame(9, 0xa0),
    wrong: frame(1, ...encodeCbor(map(true))),
    outOfBounds: frame(1, ...encodeCbor(map(65_535))),
  },
  {
    way: "JSON",
    config: { profile: "b", encoding: "json" },
    hot: json(1, { 0: 8_700 }),
    door: json(2, {}),
    card: json(3, { 0: "AQI=" }),
    unknown: json(9, {}),
    wrong: json(1, { 0: true }),
    outOfBounds: json(1, { 0: 65_535 }),
  },
] as const;

test.each(ways)("[AX-12-1] $way: an event has its name and its values", ({ config, hot, door, card }) => {
  const { say, said, dropped, heardCount } = open(config);
  for (const bytes of [hot, door, card]) say(bytes);
  expect(dropped).toEqual([]);
  expect(said.map(({ event, values }) => [event.name, values])).toEqual([
    ["overheat", { celsius: 87 }],
    ["door", {}],
    ["card", { card: "AQI=" }],
  ]);
  expect(heardCount()).toBe(3);
});

test.each(ways)(
  "[AX-12-1] [AX-10.4-1] $way: an event that is not configured or does not fit is dropped and counted, and is a sign of life",
  ({ config, unknown, wrong, outOfBounds }) => {
    const { say, said, dropped, heardCount } = open(config);
    for (const bytes of [unknown, wrong, outOfBounds]) say(bytes);
    expect(said).toEqual([]);
    expect(dropped).toEqual([
      "an event 9, which is not configured",
      expect.stringContaining("event overheat does not fit: celsius cannot be read"),
      expect.stringContaining("event overheat does not fit: celsius is not between"),
    ]);
    expect(heardCount()).toBe(3);
    const without = open({ ...config, events: undefined });
    without.say(unknown);
    expect(without.dropped).toEqual(["an event 9, which is not configured"]);
  },
);

test("[AX-8.3-4] an event of another device than the configured one is not believed", () => {
  const { say, said, dropped } = open({ profile: "b", serial: "00ff" });
  const registration = new Map<number, CborValue>([
    [0, 1],
    [1, Uint8Array.of(1)],
    [2, 96],
    [4, new Map()],
  ]);
  const announcement = new Map<number, CborValue>([
    [1, -1],
    [3, registration],
  ]);
  say(frameCobs(sealed(encodeCbor(announcement))));
  say(frameCobs(sealed(message(2, map()))));
  expect(said).toEqual([]);
  expect(dropped).toEqual(["an announcement of another device", "an event of another device"]);
});

test("[AX-12-1] [AX-12-3] an alarm and an event are notifications of their own, with an id and without a cause", () => {
  const [alarm, door] = eventsOf("uint") as [EventConfig, EventConfig];
  const ids = { "x-mcpax-event-id": "7d4a", "x-mcpax-causal-parent": null };
  expect(notificationOf({ event: alarm, values: { celsius: 87 } }, "7d4a")).toEqual({
    jsonrpc: "2.0",
    method: "notifications/alarm",
    params: { event: "overheat", values: { celsius: 87 }, ...ids },
  });
  expect(notificationOf({ event: door, values: {} }, "7d4a")).toMatchObject({
    method: "notifications/event",
    params: { event: "door", values: {}, ...ids },
  });
});
