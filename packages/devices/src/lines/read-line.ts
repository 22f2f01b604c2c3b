// A line as people write it: what carries the bytes, and how profile B is written over it. Pure until it is opened.
import { resolve } from "node:path";
import type { TransportClass } from "@mcpx/protocol";
import type { Encoding } from "../gateway/device-config.ts";
import { slcanBus } from "./can-bus-slcan.ts";
import { socketcanBus } from "./can-bus-socketcan.ts";
import { bleChunks } from "./chunks-ble.ts";
import type { OpenLine } from "./line.ts";
import { canLine } from "./line-can.ts";
import { gattLine } from "./line-gatt.ts";
import { mqttLine } from "./line-mqtt.ts";
import { serialLine } from "./line-serial.ts";
import { socketLine } from "./line-socket.ts";
import { spiLine } from "./line-spi.ts";
import { spiDevicePort } from "./spi-port-device.ts";
import { spiSocketPort } from "./spi-port-socket.ts";

export interface LineLogin {
  username?: string | undefined;
  password?: string | undefined;
}

export interface ReadLine {
  encoding: Encoding;
  transport: TransportClass;
  open(login?: LineLogin): OpenLine;
}

export const lineForms =
  "tcp://HOST:PORT, unix:PATH, serial:PATH?baud=N, spi:PATH?speed=N, slcan:PATH?node=N, socketcan:INTERFACE?node=N, ble:NAME or mqtt://HOST/NAME";

/** Throws a `RangeError` that says what is wrong. `dir` is where relative paths of sockets begin. */
export function readLine(text: string, dir = "."): ReadLine {
  const kind = text.slice(0, text.indexOf(":"));
  const read = Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
  if (read === undefined) throw new RangeError(`a line is written as ${lineForms}`);
  return read(text, dir);
}

const kinds: Record<string, (text: string, dir: string) => ReadLine> = {
  tcp: readTcp,
  unix: readUnix,
  serial: readSerial,
  spi: readSpi,
  "spi+unix": readSpiSocket,
  slcan: readSlcan,
  socketcan: readSocketcan,
  ble: readBle,
  mqtt: readMqtt,
  mqtts: readMqtt,
};

const uart = { encoding: "cbor", transport: "uart_cbor" } as const;

function readTcp(text: string): ReadLine {
  // Of a scheme that it knows, the parser checks more; and it hides the port that the scheme has by itself.
  const url = URL.parse(text.replace("tcp:", "ws:"));
  const port = Number(/:(\d{1,5})\/?$/.exec(text)?.[1]);
  const isPlain = url !== null && url.username === "" && url.pathname === "/" && url.search === "";
  if (!isPlain || !(port > 0)) throw new RangeError("write tcp://HOST:PORT");
  const line = socketLine({ host: url.hostname.replace(/^\[|\]$/g, ""), port });
  return { ...uart, open: () => line };
}

function readUnix(text: string, dir: string): ReadLine {
  const path = text.slice("unix:".length);
  if (path === "") throw new RangeError("write unix:PATH");
  const line = socketLine({ path: resolve(dir, path) });
  return { ...uart, open: () => line };
}

function readSerial(text: string): ReadLine {
  const { path, numbers } = pathAndNumbers(text, ["baud"]);
  const line = serialLine({ path, baudRate: numbers.baud });
  return { ...uart, open: () => line };
}

function readSpi(text: string): ReadLine {
  const { path, numbers } = pathAndNumbers(text, ["speed", "poll"]);
  const line = spiLine({ port: spiDevicePort({ path, speedHz: numbers.speed }), pollMs: numbers.poll });
  return { encoding: "packet", transport: "spi_cbor", open: () => line };
}

/** An emulator that plays the bus. */
function readSpiSocket(text: string, dir: string): ReadLine {
  const { path, numbers } = pathAndNumbers(text, ["poll"]);
  const line = spiLine({ port: spiSocketPort({ path: resolve(dir, path) }), pollMs: numbers.poll });
  return { encoding: "packet", transport: "spi_cbor", open: () => line };
}

function readSlcan(text: string): ReadLine {
  const { path, numbers } = pathAndNumbers(text, ["node", "bitrate", "baud"]);
  const { bitrate, baud = 115_200 } = numbers;
  const node = nodeIn(text, numbers);
  const line = canLine({ bus: slcanBus({ port: serialLine({ path, baudRate: baud }), bitrate }), node });
  return { encoding: "packet", transport: "can_cbor", open: () => line };
}

function readSocketcan(text: string): ReadLine {
  const { path: name, numbers } = pathAndNumbers(text, ["node"]);
  const line = canLine({ bus: socketcanBus({ name }), node: nodeIn(text, numbers) });
  return { encoding: "packet", transport: "can_cbor", open: () => line };
}

function nodeIn(text: string, { node }: Partial<Record<string, number>>): number {
  if (node !== undefined) return node;
  throw new RangeError(`write ${text.split("?", 1)[0]}?node=N, with the device's node from 1 to 127`);
}

function readBle(text: string): ReadLine {
  const line = gattLine({ chunks: bleChunks({ device: text.slice("ble:".length) }) });
  return { encoding: "packet", transport: "ble_cbor", open: () => line };
}

/** `serial:/dev/ttyUSB0?baud=115200`. */
function pathAndNumbers(
  text: string,
  known: readonly string[],
): { path: string; numbers: Partial<Record<string, number>> } {
  const [before = "", after = "", ...more] = text.split("?");
  const path = before.slice(before.indexOf(":") + 1);
  const given = [...new URLSearchParams(after)];
  const wrong = given.find(([name, value]) => !known.includes(name) || !/^[1-9]\d{0,7}$/.test(value));
  if (path === "" || more.length > 0) throw new RangeError(`a line is written as ${lineForms}`);
  if (wrong !== undefined) {
    throw new RangeError(
      `${wrong[0]}=${wrong[1]} is not known here; there are ${known.join(", ")}, all numbers`,
    );
  }
  return { path, numbers: Object.fromEntries(given.map(([name, value]) => [name, Number(value)])) };
}

function readMqtt(text: string): ReadLine {
  const url = URL.parse(text);
  if (url === null || url.host === "") throw new RangeError("write mqtt://HOST/NAME");
  if (url.username !== "" || url.password !== "") {
    throw new RangeError("username and password are settings of their own, not part of a line");
  }
  const name = url.pathname.slice(1);
  const prefix = url.searchParams.get("prefix") ?? undefined;
  const open = (login: LineLogin = {}) =>
    mqttLine({ url: `${url.protocol}//${url.host}`, name, prefix, ...login });
  // Says now what is wrong with the names.
  open();
  return { encoding: "json", transport: "mqtt_json", open };
}
