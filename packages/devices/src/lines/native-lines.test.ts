// What lines say that need a driver or a library which this machine has not.
import { expect, onTestFinished, test, vi } from "vitest";
import { gattUuids } from "../framing/gatt.ts";
import { socketcanBus } from "./can-bus-socketcan.ts";
import { bleChunks } from "./chunks-ble.ts";
import type { LineTaker } from "./line.ts";
import { MissingLibraryError } from "./optional.ts";
import { spiDevicePort } from "./spi-port-device.ts";

const nobody: LineTaker & { frame(): void } = { bytes: () => {}, frame: () => {}, ended: () => {} };

const notInstalled = () => Promise.reject(Object.assign(new Error("no"), { code: "ERR_MODULE_NOT_FOUND" }));
const withCode = (code: string) => () => Promise.reject(Object.assign(new Error(code), { code }));

test("[AX-8.1-3] an SPI bus that is not there, one that may not be used, and a library that is missing are told apart", async () => {
  const path = "/dev/spidev0.0";
  const open = (more: object) => spiDevicePort({ path, load: notInstalled, ...more })();
  await expect(open({ checkPath: withCode("ENOENT") })).rejects.toThrow(
    "this machine has no /dev/spidev0.0; switch SPI on",
  );
  await expect(open({ checkPath: withCode("EACCES") })).rejects.toThrow("may not be used by this user");
  const missing = open({ checkPath: async () => {} });
  await expect(missing).rejects.toThrow(MissingLibraryError);
  await expect(missing).rejects.toThrow("install it with: npm install spi-device");
  // Control: with both it is opened.
  const load = async () => ({
    open: (_bus: number, _device: number, _options: object, done: (error: null) => void) => {
      setImmediate(done, null);
      return { transfer: () => {}, close: () => {} };
    },
  });
  await expect(open({ load, checkPath: async () => {} })).resolves.toMatchObject({
    transfer: expect.any(Function),
  });
  // As it is on this machine, which has no such bus.
  await expect(spiDevicePort({ path: "/dev/spidev250.250" })()).rejects.toThrow("this machine has no");
});

test("[AX-8.1-4] an interface that is not there, one that is down, and a library that is missing are told apart", async () => {
  const library = { createRawChannelWithOptions: () => expect.fail("not opened") };
  const open = (more: object) => socketcanBus({ name: "can9", load: async () => library, ...more })(nobody);
  await expect(open({})).rejects.toThrow("this machine has no interface can9; attach the adapter");
  await expect(open({ stateOf: async () => "down" })).rejects.toThrow(
    "can9 is down; bring it up with: sudo ip link set can9 up type can bitrate 500000",
  );
  await expect(open({ load: notInstalled })).rejects.toThrow("install it with: npm install socketcan");
});

test("[AX-8.1-4] a channel that does not start leaves no watch behind", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const start = vi.fn();
  const channel = { addListener: () => {}, start, stop: () => {}, send: () => 0 };
  const load = async () => ({ createRawChannelWithOptions: () => channel });
  const open = () => socketcanBus({ name: "can9", load, stateOf: async () => "up" })(nobody);
  start.mockImplementationOnce(() => {
    throw new Error("Error while binding to socket");
  });
  await expect(open()).rejects.toThrow("binding");
  expect(vi.getTimerCount()).toBe(0);
  // Control: one that starts is watched, until it is closed.
  const bus = await open();
  expect(vi.getTimerCount()).toBe(1);
  bus.close();
  expect(vi.getTimerCount()).toBe(0);
});

/** As far as the library's interface goes, without an adapter. */
function centralInState(state: string) {
  let stops = 0;
  const central = {
    state,
    waitForPoweredOnAsync: () => Promise.reject(new Error("Timeout waiting for Noble to be powered on")),
    startScanning: () => {},
    stopScanning: () => {},
    on: () => {},
    stop: () => {
      stops += 1;
    },
  };
  return { load: async () => ({ withBindings: () => central }), stops: () => stops };
}

test("[AX-8.1-2] Bluetooth that is missing, off or forbidden is told apart, and nothing of it stays", async () => {
  const open = (load: never) => bleChunks({ device: "lamp", load })(nobody);
  await expect(open(notInstalled as never)).rejects.toThrow("install it with: npm install @stoprocent/noble");
  for (const [state, why] of [
    ["unsupported", /Bluetooth is unsupported; attach an adapter and switch it on/],
    ["unauthorized", /may not be used by this user; .*setcap/],
  ] as const) {
    const { load, stops } = centralInState(state);
    await expect(open(load as never)).rejects.toThrow(why);
    expect(stops()).toBe(1);
  }
});

/** Devices in reach of an adapter; strangers advertise first. */
function centralAmong(devices: readonly object[]) {
  const reach = { strangers: 0 };
  let discover = (_peripheral: object) => {};
  const central = {
    state: "poweredOn",
    waitForPoweredOnAsync: async () => {},
    startScanning: () => {
      for (let at = 0; at < reach.strangers; at += 1) discover(peripheralAt(`${at}`, "stranger"));
      for (const device of devices) discover(device);
    },
    stopScanning: () => {},
    on: (event: string, take: typeof discover) => {
      if (event === "discover") discover = take;
    },
    stop: () => {},
  };
  const load = async () => ({ withBindings: () => central });
  return { reach, open: (device: string) => bleChunks({ device, load: load as never })(nobody) };
}

/** One that can be connected to; `write` takes what is written. */
function connectable(localName: string, write: (chunk: Buffer) => Promise<void> = async () => {}) {
  const characteristics = [gattUuids.toStub, gattUuids.fromStub].map((uuid) => ({
    uuid: uuid.replaceAll("-", ""),
    properties: ["write"],
    on: () => {},
    subscribeAsync: async () => {},
    writeAsync: write,
  }));
  return {
    ...peripheralAt(localName, localName),
    cancelConnect: () => {},
    connectAsync: async () => {},
    discoverSomeServicesAndCharacteristicsAsync: async () => ({ characteristics }),
  };
}

test("[AX-8.1-2] a flood does not lock a device out for as long as another one is connected", async () => {
  const clock = vi.spyOn(performance, "now").mockReturnValue(1_000_000);
  onTestFinished(() => clock.mockRestore());
  const { reach, open } = centralAmong([connectable("lamp"), connectable("valve")]);
  const lamp = await open("lamp");
  reach.strangers = 2_000;
  await expect(open("valve")).rejects.toThrow("something in reach must be pretending");
  reach.strangers = 0;
  // Control: what was counted counts for a while.
  await expect(open("valve")).rejects.toThrow("something in reach must be pretending");
  clock.mockReturnValue(1_000_000 + 60_000);
  const valve = await open("valve");
  lamp.close();
  valve.close();
  await new Promise(setImmediate);
});

test("[AX-8.1-2] chunks that waited behind a slow one are not written once nobody waits for their answer", async () => {
  const slow = Promise.withResolvers<void>();
  const written: number[] = [];
  const write = (chunk: Buffer) => {
    written.push(chunk[0] as number);
    return slow.promise;
  };
  const line = await centralAmong([connectable("lamp", write)]).open("lamp");
  let isAwaited = true;
  line.write(Uint8Array.of(1));
  line.write(Uint8Array.of(2), () => isAwaited);
  line.write(Uint8Array.of(3), () => true);
  await expect.poll(() => written).toEqual([1]);
  isAwaited = false;
  slow.resolve();
  await expect.poll(() => written).toEqual([1, 3]);
  line.close();
  await new Promise(setImmediate);
});

test("[AX-8.1-2] a flood of strangers ends the search, and not the memory; the next begins anew", async () => {
  let centrals = 0;
  let isScanning = false;
  let strangers = 0;
  const load = async () => ({
    withBindings: () => {
      centrals += 1;
      let discover = (_peripheral: object) => {};
      return {
        state: "poweredOn",
        waitForPoweredOnAsync: async () => {},
        startScanning: () => {
          isScanning = true;
          for (let at = 0; at < strangers; at += 1) discover(peripheralAt(`${at}`, "stranger"));
          discover(peripheralAt("wanted", "lamp"));
        },
        stopScanning: () => {
          isScanning = false;
        },
        on: (event: string, take: typeof discover) => {
          if (event === "discover") discover = take;
        },
        stop: () => {},
      };
    },
  });
  const find = () => bleChunks({ device: "lamp", load: load as never })(nobody);
  strangers = 2_000;
  await expect(find()).rejects.toThrow("something in reach must be pretending");
  expect(isScanning).toBe(false);
  // Control: fewer of them, and it is found, as far as this one goes.
  strangers = 900;
  await expect(find()).rejects.toThrow("connecting is not played here");
  expect(centrals).toBe(2);
});

function peripheralAt(address: string, localName: string): object {
  return {
    address,
    state: "disconnected",
    advertisement: { localName },
    connectAsync: () => Promise.reject(new Error("connecting is not played here")),
    on: () => {},
    removeListener: () => {},
  };
}
