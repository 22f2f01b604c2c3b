// An SPI bus of this machine, by /dev/spidev of Linux: mode 0, most significant bit first. [AX-8.1-3]
import { access, constants } from "node:fs/promises";
import { promisify } from "node:util";
import { LineUnavailableError } from "./line.ts";
import { loadOptional } from "./optional.ts";
import type { OpenSpiPort } from "./spi-port.ts";

/** What is used of the package spi-device. */
export interface SpiLibrary {
  open(
    bus: number,
    device: number,
    options: { mode: number },
    done: (error: Error | null) => void,
  ): SpiDevice;
}

interface SpiTransfer {
  byteLength: number;
  speedHz: number;
  sendBuffer: Buffer;
  receiveBuffer: Buffer;
}

interface SpiDevice {
  transfer(message: SpiTransfer[], done: (error: Error | null) => void): unknown;
  close(done: (error: Error | null) => void): unknown;
}

export interface SpiAddress {
  /** `/dev/spidev0.0`: the bus and the chip select. */
  path: string;
  /** 200 000 unless given: 40 µs a byte. */
  speedHz?: number | undefined;
  /** The package, unless given. */
  load?: (() => Promise<SpiLibrary>) | undefined;
  /** Rejects with the code of what stands in the way. */
  checkPath?: ((path: string) => Promise<void>) | undefined;
}

const speedsHz = { least: 1_000, most: 20_000_000 };

export function spiDevicePort({
  path,
  speedHz = 200_000,
  load = loadSpiDevice,
  checkPath = isUsable,
}: SpiAddress): OpenSpiPort {
  const [, bus, device] = /^\/dev\/spidev(\d{1,3})\.(\d{1,3})$/.exec(path) ?? [];
  if (bus === undefined) throw new RangeError("write spi:/dev/spidevBUS.SELECT, such as spi:/dev/spidev0.0");
  if (!Number.isInteger(speedHz) || speedHz < speedsHz.least || speedHz > speedsHz.most)
    throw new RangeError("an SPI bus has 1000 to 20000000 bits a second");
  return async () => {
    await checkPath(path).catch((cause: NodeJS.ErrnoException) => {
      throw new LineUnavailableError(whyNot(path, cause), { cause });
    });
    const library = await loadOptional("spi-device", "an SPI line", load);
    const opened = Promise.withResolvers<void>();
    const spi = library.open(Number(bus), Number(device), { mode: 0 }, (error) =>
      error ? opened.reject(error) : opened.resolve(),
    );
    await opened.promise;
    const transfer = promisify<SpiTransfer[], void>((message, done) => spi.transfer(message, done));
    let last: Promise<unknown> = Promise.resolve();
    return {
      transfer: async (bytes) => {
        const receiveBuffer = Buffer.alloc(bytes.length);
        const sendBuffer = Buffer.from(bytes);
        const transferred = transfer([{ byteLength: bytes.length, speedHz, sendBuffer, receiveBuffer }]);
        last = transferred.catch(() => {});
        await transferred;
        return receiveBuffer;
      },
      // Not in the middle of a transfer; and one that cannot even be closed is gone.
      close: () => void last.then(() => spi.close(() => {})),
    };
  };
}

// By a name that is no literal: the compiler would look for types of what need not be installed.
const packageName: string = "spi-device";

async function loadSpiDevice(): Promise<SpiLibrary> {
  return ((await import(packageName)) as { default: SpiLibrary }).default;
}

function isUsable(path: string): Promise<void> {
  return access(path, constants.R_OK | constants.W_OK);
}

function whyNot(path: string, { code }: NodeJS.ErrnoException): string {
  if (code === "EACCES") {
    return `${path} may not be used by this user; let them in with: sudo usermod -aG spi $USER`;
  }
  const fix = "switch SPI on (on a Raspberry Pi: sudo raspi-config nonint do_spi 0), or name another";
  return `this machine has no ${path}; ${fix}: ls /dev/spidev*`;
}
