// A device of `devices`, with its tools and events.
import { deviceFieldTypes } from "@mcpx/devices";
import { z } from "zod";
import * as is from "./config-values.ts";
import { byName, list, section } from "./sections.ts";
import { capability } from "./server-schema.ts";

/** One argument of a device's tool, one part of its result, or one value of its event. */
const deviceField = section({
  name: is.text("a name", "led"),
  type: is.oneOf(deviceFieldTypes),
  description: is.text("a description", "0 is off, 1 is on").exactOptional(),
  minimum: is.finite.exactOptional(),
  maximum: is.finite.exactOptional(),
  scale: is.finite.exactOptional(),
  offset: is.finite.exactOptional(),
  length: is.count.exactOptional(),
  littleEndian: is.flag.exactOptional(),
  tag: is.byte.exactOptional(),
});

const deviceTool = section({
  id: is.byte,
  description: is.text("a description", "Switches the LED").exactOptional(),
  arguments: list(deviceField).exactOptional(),
  result: list(deviceField).exactOptional(),
  layout: is.oneOf(["struct", "tlv", "raw"]).exactOptional(),
  capability: capability.exactOptional(),
  timeout: is.duration.exactOptional(),
  statuses: byName(z.string(), is.text("words", "the lid is open")).exactOptional(),
});

const deviceEvent = section({
  id: is.byte,
  alarm: is.flag.exactOptional(),
  fields: list(deviceField).exactOptional(),
  layout: is.oneOf(["struct", "tlv", "raw"]).exactOptional(),
});

/** A microcontroller on a line of this machine. */
export const device = section({
  line: is.line,
  profile: is.oneOf(["a", "b"]),
  tools: byName(is.segment, deviceTool),
  events: byName(is.segment, deviceEvent).exactOptional(),
  serial: is.text("its serial number in hexadecimal", "6c616d7031").exactOptional(),
  crc: is.crcBits.exactOptional(),
  payloadMax: is.count.exactOptional(),
  framing: is.oneOf(["cobs", "frame"]).exactOptional(),
  status: is.oneOf(["first", "last"]).exactOptional(),
  heartbeat: is.duration.exactOptional(),
  username: is.text("the broker's user", "gateway").exactOptional(),
  password: is.text("a password", "${env:BROKER_PASSWORD}").exactOptional(),
  disabled: is.flag.exactOptional(),
});
