import { expect, test } from "vitest";
import { readLine } from "./read-line.ts";

test.each([
  ["tcp://127.0.0.1:4000", "cbor", "uart_cbor"],
  ["tcp://[::1]:80", "cbor", "uart_cbor"],
  ["unix:/run/lamp", "cbor", "uart_cbor"],
  ["unix:lamp", "cbor", "uart_cbor"],
  ["serial:/dev/ttyUSB0", "cbor", "uart_cbor"],
  ["serial:COM3?baud=115200", "cbor", "uart_cbor"],
  ["slcan:/dev/ttyACM0?node=5&bitrate=250000&baud=115200", "packet", "can_cbor"],
  ["spi:/dev/spidev0.1", "packet", "spi_cbor"],
  ["spi:/dev/spidev10.0?speed=1000000&poll=5", "packet", "spi_cbor"],
  ["spi+unix:lamp?poll=5", "packet", "spi_cbor"],
  ["socketcan:can0?node=127", "packet", "can_cbor"],
  ["ble:AA:bb:cc:dd:ee:0f", "packet", "ble_cbor"],
  ["ble:a lamp?", "packet", "ble_cbor"],
  ["mqtt://broker.example.com/lamp", "json", "mqtt_json"],
  ["mqtts://broker.example.com:8884/lamp?prefix=site/a", "json", "mqtt_json"],
])("%s is a line", (text, encoding, transport) => {
  expect(readLine(text)).toMatchObject({ encoding, transport });
});

test.each([
  ["", /a line is written as/],
  ["lamp", /a line is written as/],
  ["constructor:x", /a line is written as/],
  ["tcp://127.0.0.1", /tcp:\/\/HOST:PORT/],
  ["tcp://127.0.0.1:0", /tcp:\/\/HOST:PORT/],
  ["tcp://127.0.0.1:65536", /tcp:\/\/HOST:PORT/],
  ["tcp://me@127.0.0.1:4000", /tcp:\/\/HOST:PORT/],
  ["tcp://127.0.0.1:4000/path", /tcp:\/\/HOST:PORT/],
  ["unix:", /unix:PATH/],
  ["serial:", /a line is written as/],
  ["serial:/dev/ttyUSB0?baud=4800", /9600 baud/],
  ["serial:/dev/ttyUSB0?bits=8", /bits=8 is not known here/],
  ["serial:/dev/ttyUSB0?baud=fast", /all numbers/],
  ["slcan:/dev/ttyACM0", /node from 1 to 127/],
  ["slcan:/dev/ttyACM0?node=128", /a node is 1 to 127/],
  ["slcan:/dev/ttyACM0?node=5&bitrate=123", /a bitrate is one of/],
  ["spi:/dev/ttyUSB0", /spidevBUS.SELECT/],
  ["spi:/dev/../dev/spidev0.0", /spidevBUS.SELECT/],
  ["spi:/dev/spidev0.0?speed=1", /1000 to 20000000/],
  ["spi:/dev/spidev0.0?poll=70000", /every 1 to 60000 ms/],
  ["spi+unix:", /a line is written as/],
  ["socketcan:can0", /socketcan:can0\?node=N/],
  ["socketcan:..?node=1", /the interface, such as can0/],
  ["socketcan:../can0?node=1", /the interface, such as can0/],
  ["ble:", /1 to 248 bytes/],
  [`ble:${"x".repeat(249)}`, /1 to 248 bytes/],
  ["mqtt://broker.example.com", /a device's name/],
  ["mqtt://broker.example.com/+", /a device's name/],
  ["mqtt://me:secret@broker.example.com/lamp", /settings of their own/],
])("%s is none", (text, why) => {
  expect(() => readLine(text)).toThrow(why);
  expect(() => readLine(text)).toThrow(RangeError);
});
