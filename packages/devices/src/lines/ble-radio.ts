// Bluetooth of this machine, shared by all its lines: on while one of them uses it, searching while one of them seeks,
// never searching while it connects, which not every adapter can.
import { readdir } from "node:fs/promises";
import { gattUuids } from "../framing/gatt.ts";
import type { BleCentral, BleLibrary, BlePeripheral } from "./ble-library.ts";
import { LineUnavailableError } from "./line.ts";
import { loadOptional } from "./optional.ts";

export type LoadBle = () => Promise<BleLibrary>;

export interface BleRadio {
  /** Rejects where nobody is wanted in that time. */
  find(isWanted: (peripheral: BlePeripheral) => boolean, timeoutMs: number): Promise<BlePeripheral>;
  connect(peripheral: BlePeripheral, timeoutMs: number): Promise<void>;
  /** A line that will reconnect soon keeps the radio switched on. */
  leave(isReturning: boolean): void;
}

const powerMs = 5_000;
/** Longer than a device waits before it opens its line again. */
const returningMs = 6_000;

/** Of those that advertise the service, in so long; longer after every flood, for what is found stays in memory. */
const foundMax = 1_000;
const floodMs = { least: 60_000, most: 3_600_000 };
const flooded = "so many devices advertise the service that something in reach must be pretending";

/** As the library writes them. */
export const plainUuid = (uuid: string): string => uuid.replaceAll("-", "");

interface SharedRadio extends Omit<BleRadio, "leave"> {
  /** It finds nobody until some time has passed, or it was switched off and on. */
  isFlooded(): boolean;
  switchOff(): void;
}

interface Shared {
  radio: Promise<SharedRadio>;
  users: number;
  ending?: NodeJS.Timeout;
}

let shared: Shared | undefined;

export async function enterRadio(load: LoadBle = loadNoble): Promise<BleRadio> {
  shared ??= { radio: switchOn(load), users: 0 };
  const entered = shared;
  clearTimeout(entered.ending);
  entered.users += 1;
  try {
    const { find, connect, isFlooded } = await entered.radio;
    return { find, connect, leave: (isReturning) => leaveRadio(entered, isReturning && !isFlooded()) };
  } catch (error) {
    if (shared === entered) shared = undefined;
    throw error;
  }
}

function leaveRadio(left: Shared, isReturning: boolean): void {
  left.users -= 1;
  if (left.users > 0) return;
  const end = () => {
    if (shared === left) shared = undefined;
    // It was on: otherwise nobody could have left.
    void left.radio.then(({ switchOff }) => switchOff());
  };
  if (isReturning) left.ending = setTimeout(end, returningMs);
  else end();
}

async function switchOn(load: LoadBle): Promise<SharedRadio> {
  const library = await loadOptional("@stoprocent/noble", "a BLE line", load);
  const central = library.withBindings();
  beginQuietly(central);
  try {
    await central.waitForPoweredOnAsync(powerMs);
  } catch (cause) {
    const why = whyNotOn(central.state);
    central.stop();
    throw new LineUnavailableError(why, { cause });
  }
  return createRadio(central);
}

/** The library would end the process at an interrupt; that is for the process to decide. */
function beginQuietly(central: BleCentral): void {
  const before = new Set(process.listeners("SIGINT"));
  void central.state;
  for (const listener of process.listeners("SIGINT")) {
    if (!before.has(listener)) process.removeListener("SIGINT", listener);
  }
}

function whyNotOn(state: string): string {
  if (state === "unauthorized") {
    return "Bluetooth may not be used by this user; on Linux let them with: sudo setcap cap_net_raw+eip $(readlink -f $(which node))";
  }
  return `Bluetooth is ${state}; attach an adapter and switch it on (on Linux: bluetoothctl power on)`;
}

interface Seeker {
  isWanted(peripheral: BlePeripheral): boolean;
  resolve(peripheral: BlePeripheral): void;
  reject(error: Error): void;
}

function createRadio(central: BleCentral): SharedRadio {
  const seekers = new Set<Seeker>();
  /** Of late. The library remembers them all, for as long as it is on. */
  const found = new Set<string>();
  let countMs = floodMs.least;
  let countsUntilMs = 0;
  const isFlooded = () => {
    if (performance.now() >= countsUntilMs) {
      if (found.size >= foundMax) countMs = Math.min(countMs * 2, floodMs.most);
      found.clear();
      countsUntilMs = performance.now() + countMs;
    }
    return found.size >= foundMax;
  };
  let connecting = 0;
  let isScanning = false;
  const fail = (why: string) => {
    for (const { reject } of seekers) reject(new Error(why));
  };
  const start = () =>
    central.startScanning([plainUuid(gattUuids.service)], true, (error) => {
      if (error) fail(error.message);
    });
  const scan = () => {
    const isWanted = seekers.size > 0 && connecting === 0 && !isFlooded();
    if (isWanted === isScanning) return;
    isScanning = isWanted;
    if (isWanted) start();
    else central.stopScanning(() => {});
  };
  // Of its own accord, or late after we have begun again.
  central.on("scanStop", () => {
    if (isScanning) start();
  });
  central.on("discover", (peripheral) => {
    found.add(peripheral.address);
    for (const seeker of seekers) if (seeker.isWanted(peripheral)) seeker.resolve(peripheral);
    if (!isFlooded()) return;
    fail(flooded);
    scan();
  });
  central.on("stateChange", (state) => {
    if (state !== "poweredOn") fail(whyNotOn(state));
  });
  return {
    find: (isWanted, timeoutMs) => {
      const { promise, resolve, reject } = Promise.withResolvers<BlePeripheral>();
      const seeker = { isWanted, resolve, reject };
      const late = () => reject(new Error("it is not in reach, or does not advertise its service"));
      const timer = setTimeout(late, timeoutMs);
      seekers.add(seeker);
      if (isFlooded()) reject(new Error(flooded));
      scan();
      return promise.finally(() => {
        clearTimeout(timer);
        seekers.delete(seeker);
        scan();
      });
    },
    connect: async (peripheral, timeoutMs) => {
      connecting += 1;
      scan();
      const timer = setTimeout(() => peripheral.cancelConnect(), timeoutMs);
      try {
        await peripheral.connectAsync();
      } finally {
        clearTimeout(timer);
        connecting -= 1;
        scan();
      }
    },
    isFlooded,
    switchOff: () => central.stop(),
  };
}

// By a name that is no literal: the compiler would look for types of what need not be installed.
const packageName: string = "@stoprocent/noble";

async function loadNoble(): Promise<BleLibrary> {
  const loaded = (await import(packageName)) as { default: BleLibrary };
  if (!(await mayHaveAdapter())) throw new LineUnavailableError(whyNotOn("missing"));
  return loaded.default;
}

/** Without one the library complains at length on standard output, whenever it begins. */
async function mayHaveAdapter(): Promise<boolean> {
  // It can be told of adapters that the kernel does not know.
  const isTold = Object.keys(process.env).some((name) => name.startsWith("BLUETOOTH_HCI_SOCKET_"));
  if (process.platform !== "linux" || isTold) return true;
  const adapters = await readdir("/sys/class/bluetooth").catch(() => []);
  return adapters.length > 0;
}
