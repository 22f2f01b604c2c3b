// Microcontrollers as MCP servers: framing and CBOR for programs that talk to a stub, and a gateway that registers each
// device in a tree. What goes over the wire is in spec/devices.md.
export { createCobsReader, frameCobs } from "./framing/cobs.ts";
export { encodeFrameA, type FrameA } from "./framing/frame-a.ts";
export { createFrameAReader } from "./framing/frame-a-reader.ts";
export type { FrameReader, FrameTaker } from "./framing/framing.ts";
export { createGattReader, encodeGatt, gattUuids } from "./framing/gatt.ts";
export { createIsoTpReader, encodeIsoTp, type FlowControl, readFlowControl } from "./framing/iso-tp.ts";
export {
  createLengthPrefixReader,
  encodeLengthPrefix,
  idleByte,
  type LengthPrefixReader,
} from "./framing/length-prefix.ts";
export {
  checkDeviceConfig,
  type DeviceConfig,
  DeviceConfigError,
  type Encoding,
  type EventConfig,
  type ToolConfig,
} from "./gateway/device-config.ts";
export { type Device, type DeviceEvent, type DeviceOptions, openDevice } from "./gateway/open-device.ts";
export type { CanBus, CanBusTaker, OpenCanBus } from "./lines/can-bus.ts";
export { type SlcanAddress, slcanBus } from "./lines/can-bus-slcan.ts";
export { type SocketcanAddress, socketcanBus } from "./lines/can-bus-socketcan.ts";
export { type BleAddress, bleChunks } from "./lines/chunks-ble.ts";
export { type Line, type LineTaker, LineUnavailableError, type OpenLine } from "./lines/line.ts";
export { type CanAddress, canLine } from "./lines/line-can.ts";
export { type ChunkLine, type GattAddress, gattLine, type OpenChunks } from "./lines/line-gatt.ts";
export { type MqttAddress, mqttLine } from "./lines/line-mqtt.ts";
export { type SerialAddress, serialLine } from "./lines/line-serial.ts";
export { type SocketAddress, socketLine } from "./lines/line-socket.ts";
export { type SpiLineAddress, spiLine } from "./lines/line-spi.ts";
export { MissingLibraryError } from "./lines/optional.ts";
export { type LineLogin, lineForms, type ReadLine, readLine } from "./lines/read-line.ts";
export type { OpenSpiPort, SpiPort } from "./lines/spi-port.ts";
export { type SpiAddress, spiDevicePort } from "./lines/spi-port-device.ts";
export { type SpiSocketAddress, spiSocketPort } from "./lines/spi-port-socket.ts";
export { type FoundDevice, type ProbeOptions, probeLine } from "./look/probe-line.ts";
export { type SeenFrame, type WatchedLine, watchFrames } from "./look/watch-frames.ts";
export { deviceFieldTypes, type Field, type FieldType } from "./tools/field.ts";
export type { Layout } from "./tools/layout.ts";
export type { StatusPlace } from "./wire/framed-message.ts";
export {
  decodePacket,
  encodeRequest,
  type StubMessage,
  type StubRegistration,
  type Unreadable,
} from "./wire/message.ts";
export { decodeJson, encodeJsonRequest } from "./wire/mqtt-message.ts";
