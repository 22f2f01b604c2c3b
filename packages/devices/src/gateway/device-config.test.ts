import { expect, test } from "vitest";
import { checkDeviceConfig, type DeviceConfig, type ToolConfig } from "./device-config.ts";

const tool: ToolConfig = { id: 1, name: "read", result: [{ name: "reading", type: "u16" }] };
const device = (more: Partial<DeviceConfig> = {}): DeviceConfig => ({
  segment: "lamp",
  profile: "a",
  tools: [tool],
  ...more,
});
const withTool = (more: Partial<ToolConfig>) => device({ tools: [{ ...tool, ...more }] });

test("[AX-8.3-1] a configuration that can be meant is taken", () => {
  expect(() => checkDeviceConfig(device())).not.toThrow();
  expect(() => checkDeviceConfig(device({ encoding: "cbor" }))).not.toThrow();
  const b = { ...tool, result: [{ name: "reading", type: "uint" as const }] };
  expect(() => checkDeviceConfig(device({ profile: "b", tools: [b], serial: "00ff" }))).not.toThrow();
  expect(() => checkDeviceConfig(device({ profile: "b", tools: [b], crc: 0 }))).not.toThrow();
  // A stub takes 8 bytes at most, and sends an event of more.
  const fields = [{ name: "x", type: "text", length: 64 }] as const;
  expect(() => checkDeviceConfig(device({ events: [{ id: 1, name: "hot", fields }] }))).not.toThrow();
  expect(() =>
    checkDeviceConfig(device({ profile: "b", tools: [b], encoding: "frame", crc: 8, status: "last" })),
  ).not.toThrow();
});

test.each([
  ["a segment with a dot", device({ segment: "a.b" }), /its segment is/],
  ["profile A over packets", device({ encoding: "packet" }), /profile A is for lines of bytes/],
  ["profile A over a broker", device({ encoding: "json" }), /profile A is for lines of bytes/],
  ["a CRC of 8 bits outside frames", device({ profile: "b", crc: 8, tools: [] }), /crc 8 is for frames/],
  ["no CRC in frames", device({ crc: 0 }), /crc 0 is for profile B in COBS/],
  [
    "no CRC over packets",
    device({ profile: "b", crc: 0, encoding: "packet", tools: [] }),
    /crc 0 is for profile B in COBS/,
  ],
  [
    "a place of the status outside frames",
    device({ profile: "b", status: "last", tools: [] }),
    /status is for frames/,
  ],
  ["a serial number that is none", device({ serial: "xyz" }), /its serial is/],
  ["two tools of one id", device({ tools: [tool, { ...tool, name: "other" }] }), /two tools have the id 1/],
  ["two tools of one name", device({ tools: [tool, { ...tool, id: 2 }] }), /two tools have the name read/],
  ["an id of 0", withTool({ id: 0 }), /tool "read": its id is 1 to 255/],
  ["a name with a dot", withTool({ name: "a.b" }), /its name is/],
  [
    "a type of the other profile",
    withTool({ arguments: [{ name: "x", type: "uint" }] }),
    /in profile A there are u8/,
  ],
  [
    "a field called __proto__",
    withTool({ arguments: [{ name: "__proto__", type: "u8" }] }),
    /is not a valid name of a field/,
  ],
  [
    "a field twice",
    withTool({
      arguments: [
        { name: "x", type: "u8" },
        { name: "x", type: "u8" },
      ],
    }),
    /two fields/,
  ],
  ["a scale of 0", withTool({ arguments: [{ name: "x", type: "u8", scale: 0 }] }), /the scale of x is 0/],
  [
    "text without a length in a struct",
    withTool({ arguments: [{ name: "x", type: "text" }] }),
    /x has no length/,
  ],
  [
    "more than the payload holds",
    withTool({ arguments: [{ name: "x", type: "text", length: 9 }] }),
    /payloadMax is 8/,
  ],
  [
    "tlv without tags",
    withTool({ layout: "tlv", arguments: [{ name: "x", type: "u8" }] }),
    /a tag of its own/,
  ],
  [
    "two events with one id",
    device({
      events: [
        { id: 1, name: "hot" },
        { id: 1, name: "cold" },
      ],
    }),
    /two events have the id 1/,
  ],
  ["an event 0", device({ events: [{ id: 0, name: "hot" }] }), /event "hot": its id is 1 to 255/],
  [
    "an event that is longer than a frame of events",
    device({ events: [{ id: 1, name: "hot", fields: [{ name: "x", type: "text", length: 65 }] }] }),
    /its fields are 65 bytes, the bound of events is 64/,
  ],
  [
    "an event of a type of the other profile",
    device({ events: [{ id: 1, name: "hot", fields: [{ name: "x", type: "uint" }] }] }),
    /in profile A there are/,
  ],
  ["raw with a number", withTool({ layout: "raw" }), /raw has one field/],
  [
    "a layout in profile B",
    device({ profile: "b", tools: [{ id: 1, name: "x", layout: "raw" }] }),
    /layout is for/,
  ],
] as const)("%s is refused, and named", (_name, config, message) => {
  expect(() => checkDeviceConfig(config)).toThrow(message);
});
