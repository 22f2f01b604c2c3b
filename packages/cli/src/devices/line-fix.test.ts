import { expect, test } from "vitest";
import { lineFix } from "./line-fix.ts";

const serial = "serial:/dev/ttyUSB0?baud=38400";
const coded = (code: string) => Object.assign(new Error(`connect ${code}`), { code });

test.each([
  // As the library for serial ports words them, without codes.
  [
    serial,
    new Error("Error: No such file or directory, cannot open /dev/ttyUSB0"),
    /plugged in\? ls \/dev\/tty\*/,
  ],
  [serial, new Error("Error: Permission denied, cannot open /dev/ttyUSB0"), /dialout/],
  [serial, new Error("Error Resource temporarily unavailable Cannot lock port"), /end that program/],
  [serial, new Error("Error: Device or resource busy, cannot open /dev/ttyUSB0"), /end that program/],
  ["tcp://127.0.0.1:1", coded("ECONNREFUSED"), /^nothing listens there/],
  ["unix:/nowhere", coded("ENOENT"), /^there is no file or socket/],
  ["unix:/etc/shut", coded("EACCES"), /^this user may not open it/],
])("%s: %s has a hint that fits", (line, error, fix) => {
  expect(lineFix(line, error)).toMatch(fix);
});

test("what is not known is not guessed", () => {
  expect(lineFix(serial, new Error("odd"))).toBeUndefined();
  expect(lineFix("tcp://127.0.0.1:1", "odd")).toBeUndefined();
});
