// Chunks over Bluetooth Low Energy: finds the device, connects, listens to its one characteristic and writes to the
// other. [AX-8.1-2]
import { gattUuids } from "../framing/gatt.ts";
import type { BleCharacteristic, BlePeripheral } from "./ble-library.ts";
import { type BleRadio, enterRadio, type LoadBle, plainUuid } from "./ble-radio.ts";
import type { LineTaker } from "./line.ts";
import type { ChunkLine, OpenChunks } from "./line-gatt.ts";

export interface BleAddress {
  /** Its address, `aa:bb:cc:dd:ee:ff`, or the name it advertises. */
  device: string;
  /** How long it is sought before that is tried anew; 10 000 unless given. */
  findMs?: number | undefined;
  /** The package, unless given. */
  load?: LoadBle | undefined;
}

const connectMs = 5_000;
const greetMs = 5_000;
const goodbyeMs = 1_000;
/** The MTU where none was negotiated. */
const mtuLeast = 23;
/** Bytes of a write besides its value. */
const writeHeadBytes = 3;
/** The longest value there is. */
const valueBytesMax = 512;
/** Two of the longest packets. */
const chunksWaitingMax = 128;

const addressLike = /^[0-9a-f]{2}(?::[0-9a-f]{2}){5}$/i;

export function bleChunks({ device, findMs = 10_000, load }: BleAddress): OpenChunks {
  const bytes = Buffer.byteLength(device);
  if (bytes === 0 || bytes > 248) throw new RangeError("a Bluetooth name has 1 to 248 bytes");
  const isWanted = addressLike.test(device)
    ? ({ address }: BlePeripheral) => address.toLowerCase() === device.toLowerCase()
    : ({ advertisement }: BlePeripheral) => advertisement.localName === device;
  return async (taker) => {
    const radio = await enterRadio(load);
    try {
      const peripheral = await radio.find(isWanted, findMs);
      return await attach(radio, peripheral, taker);
    } catch (error) {
      radio.leave(true);
      throw error;
    }
  };
}

async function attach(radio: BleRadio, peripheral: BlePeripheral, taker: LineTaker): Promise<ChunkLine> {
  // What an earlier connection has negotiated says nothing about this one.
  let mtu = mtuLeast;
  let isOpen = false;
  let isLost = false;
  let isOver = false;
  const hearMtu = (given: number) => {
    mtu = given;
  };
  const end = () => {
    if (isOver) return false;
    isOver = true;
    peripheral.removeListener("mtu", hearMtu);
    peripheral.removeListener("disconnect", lose);
    return true;
  };
  const lose = () => {
    isLost = true;
    if (end() && isOpen) taker.ended("the connection is lost");
  };
  peripheral.on("mtu", hearMtu);
  let down: BleCharacteristic;
  try {
    await radio.connect(peripheral, connectMs);
    peripheral.on("disconnect", lose);
    down = await greet(peripheral, (chunk) => {
      if (!isOver) taker.bytes(chunk);
    });
    if (isLost) throw new Error("the connection is lost");
    isOpen = true;
  } catch (error) {
    end();
    await goodbye(peripheral);
    throw error;
  }
  const write = createWriter(down, (why) => {
    if (end()) taker.ended(why);
  });
  let hasLeft = false;
  return {
    chunkBytesMax: Math.min(Math.max(mtu, mtuLeast) - writeHeadBytes, valueBytesMax),
    write: (chunk, isAwaited) => !isOver && write(chunk, isAwaited),
    close: () => {
      if (hasLeft) return;
      hasLeft = true;
      const isReturning = isLost || isOver;
      end();
      void goodbye(peripheral).then(() => radio.leave(isReturning));
    },
  };
}

/** Listens, and gives back where to write. */
async function greet(
  peripheral: BlePeripheral,
  hear: (chunk: Uint8Array) => void,
): Promise<BleCharacteristic> {
  const [service, toStub, fromStub] = [gattUuids.service, gattUuids.toStub, gattUuids.fromStub].map(
    plainUuid,
  ) as [string, string, string];
  const found = peripheral.discoverSomeServicesAndCharacteristicsAsync([service], [toStub, fromStub]);
  const { characteristics } = await inTime(found);
  const [down, up] = [toStub, fromStub].map((uuid) => characteristics.find((one) => one.uuid === uuid));
  if (down === undefined || up === undefined) {
    throw new Error("it lacks a characteristic of the service that spec/devices.md names");
  }
  up.on("data", hear);
  await inTime(up.subscribeAsync());
  return down;
}

/** The library waits for as long as the connection lasts. */
async function inTime<T>(what: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error("it does not answer")), greetMs);
  try {
    return await Promise.race([what, late.promise]);
  } finally {
    clearTimeout(timer);
    // What comes after that is for nobody.
    what.catch(() => {});
  }
}

async function goodbye(peripheral: BlePeripheral): Promise<void> {
  if (peripheral.state !== "connected") return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, goodbyeMs);
  peripheral.disconnect(resolve);
  await promise;
  clearTimeout(timer);
}

/** One write after the other; false where too many wait. */
function createWriter(down: BleCharacteristic, fail: (why: string) => void): ChunkLine["write"] {
  const isWithoutResponse = down.properties.includes("writeWithoutResponse");
  let writing: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  return (chunk, isAwaited = () => true) => {
    if (waiting >= chunksWaitingMax) return false;
    waiting += 1;
    writing = writing
      .then(() => (isAwaited() ? down.writeAsync(Buffer.from(chunk), isWithoutResponse) : undefined))
      .catch((error: Error) => fail(error.message))
      .finally(() => {
        waiting -= 1;
      });
    return true;
  };
}
