// The decoders as they are.
import * as cobs from "../../framing/cobs.ts";
import * as frameA from "../../framing/frame-a.ts";
import * as frameAReader from "../../framing/frame-a-reader.ts";
import * as gatt from "../../framing/gatt.ts";
import * as isoTp from "../../framing/iso-tp.ts";
import * as lengthPrefix from "../../framing/length-prefix.ts";
import * as slcan from "../../framing/slcan.ts";
import * as layout from "../../tools/layout.ts";
import * as cbor from "../../wire/cbor.ts";
import * as message from "../../wire/message.ts";
import * as mqttMessage from "../../wire/mqtt-message.ts";
import type { Decoders } from "./subjects.ts";

export const realDecoders: Decoders = {
  cobs,
  lengthPrefix,
  isoTp,
  gatt,
  frameA,
  frameAReader,
  slcan,
  cbor,
  message,
  mqttMessage,
  layout,
};
