// A simulated stub as a Bluetooth peripheral, by a library that knows nothing of ours.
import { createRequire } from "node:module";
import { createGattReader, encodeGatt, gattUuids } from "@mcpx/devices";
import { createPacketStub, type PacketStub } from "../../../packages/devices/src/testing/packet-stub.ts";
import type { AnswerPacket } from "../../../packages/devices/src/testing/simulated-stub.ts";

/** What is used of the package @stoprocent/bleno. */
interface Bleno {
  readonly address: string;
  waitForPoweredOnAsync(timeoutMs: number): Promise<void>;
  startAdvertisingAsync(name: string, services: string[]): Promise<void>;
  setServicesAsync(services: object[]): Promise<void>;
  disconnect(): void;
  stop(): void;
  readonly _bindings: { readonly _hci: { pollIsDevUp(): void } };
}

type Notify = (chunk: Buffer) => void;

interface BlenoModule {
  withBindings(kind: "hci", options: object): Bleno;
  PrimaryService: new (options: object) => object;
  Characteristic: new (options: object) => object;
}

export interface Peripheral extends Disposable {
  readonly address: string;
  readonly stub: PacketStub;
  /** How long each chunk was that it was written. */
  readonly sizes: number[];
  disconnect(): void;
}

export interface PeripheralOptions {
  /** As it advertises itself. */
  name: string;
  /** The simulated stub's unless given. */
  answer?: AnswerPacket;
}

/** `port` is its controller's. */
export async function startPeripheral(
  port: string,
  { name, answer }: PeripheralOptions,
): Promise<Peripheral> {
  const bleno = createRequire(import.meta.url)("@stoprocent/bleno") as BlenoModule;
  const peripheral = bleno.withBindings("hci", {
    hciDriver: "uart",
    bindParams: { uart: { port, baudRate: 115_200 } },
  });
  let chunkMax = 20;
  const stub = createPacketStub({
    frame: (packet) => encodeGatt(packet, chunkMax),
    answer,
    noise: [Buffer.of(0x45, 1, 2), Buffer.of(0x80)],
  });
  const sizes: number[] = [];
  const listeners = new Map<number, Notify>();
  const readers = new Map<number, (chunk: Uint8Array) => void>();
  const readerOf = (connection: number) =>
    createGattReader({
      dropped: () => {},
      frame: (packet) => {
        for (const piece of stub.piecesOf(packet)) listeners.get(connection)?.(Buffer.from(piece));
      },
    });
  const up = new bleno.Characteristic({
    uuid: gattUuids.fromStub,
    properties: ["notify"],
    onSubscribe: (connection: number, valueMax: number, notify: Notify) => {
      chunkMax = valueMax;
      listeners.set(connection, notify);
      readers.set(connection, readerOf(connection));
    },
    onUnsubscribe: (connection: number) => listeners.delete(connection),
  });
  const down = new bleno.Characteristic({
    uuid: gattUuids.toStub,
    properties: ["write", "writeWithoutResponse"],
    onWriteRequest: (connection: number, chunk: Buffer, ...more: unknown[]) => {
      sizes.push(chunk.length);
      (more.at(-1) as (status: number) => void)(0);
      readers.get(connection)?.(chunk);
    },
  });
  await peripheral.waitForPoweredOnAsync(5_000);
  await peripheral.setServicesAsync([
    new bleno.PrimaryService({ uuid: gattUuids.service, characteristics: [down, up] }),
  ]);
  await peripheral.startAdvertisingAsync(name, [gattUuids.service]);
  return {
    address: peripheral.address,
    stub,
    sizes,
    disconnect: () => peripheral.disconnect(),
    [Symbol.dispose]: () => {
      peripheral.stop();
      // The library goes on asking for the adapter's state every second, which would keep the process alive for ever.
      peripheral._bindings._hci.pollIsDevUp = () => {};
    },
  };
}
