// A CAN bus as an interface of this machine, by SocketCAN of Linux. Its bitrate is the interface's, set where that is
// brought up. [AX-8.1-4]
import { readFile } from "node:fs/promises";
import type { OpenCanBus } from "./can-bus.ts";
import { LineUnavailableError } from "./line.ts";
import { loadOptional } from "./optional.ts";

/** What is used of the package socketcan. */
export interface SocketcanLibrary {
  createRawChannelWithOptions(name: string, options: { non_block_send: boolean }): SocketcanChannel;
}

export interface SocketcanMessage {
  id: number;
  ext: boolean;
  rtr: boolean;
  /** Told by the driver about the bus, not by a node. */
  err?: boolean;
  data: Buffer;
}

interface SocketcanChannel {
  addListener(event: "onMessage", take: (message: SocketcanMessage) => void): void;
  addListener(event: "onStopped", take: () => void): void;
  start(): void;
  stop(): void;
  /** How many bytes the kernel took; -1 where none. */
  send(message: SocketcanMessage): number;
}

export interface SocketcanAddress {
  /** `can0`. */
  name: string;
  /** The package, unless given. */
  load?: (() => Promise<SocketcanLibrary>) | undefined;
  /** How the kernel says that the interface is: `up`, or `unknown` for a virtual one. Rejects where there is none. */
  stateOf?: ((name: string) => Promise<string>) | undefined;
}

const nameLike = /^[\w.-]{1,15}$/;
const watchMs = 1_000;

export function socketcanBus({
  name,
  load = loadSocketcan,
  stateOf = stateOfInterface,
}: SocketcanAddress): OpenCanBus {
  if (!nameLike.test(name) || /^\.{1,2}$/.test(name))
    throw new RangeError("write the interface, such as can0");
  return async (taker) => {
    const library = await loadOptional("socketcan", "a SocketCAN line", load);
    await checkInterface(name, stateOf);
    const channel = library.createRawChannelWithOptions(name, { non_block_send: true });
    let isOver = false;
    let watching: NodeJS.Timeout | undefined;
    const end = () => {
      clearInterval(watching);
      if (isOver) return false;
      isOver = true;
      return true;
    };
    const lose = (why: string) => {
      if (end()) taker.ended(why);
    };
    channel.addListener("onMessage", ({ id, ext, rtr, err, data }) => {
      const isFrame = !ext && !rtr && err !== true && data.length <= 8;
      if (isFrame && !isOver) taker.frame({ id, data: Uint8Array.from(data) });
    });
    channel.addListener("onStopped", () => lose(`${name} was stopped`));
    channel.start();
    // A socket stays open when its interface goes down: nothing is heard any more, and nobody is told.
    watching = setInterval(() => {
      checkInterface(name, stateOf).catch((error: Error) => {
        if (isOver) return;
        lose(error.message);
        channel.stop();
      });
    }, watchMs);
    return {
      send: ({ id, data }) =>
        !isOver && channel.send({ id, ext: false, rtr: false, data: Buffer.from(data) }) > 0,
      close: () => {
        if (end()) channel.stop();
      },
    };
  };
}

// By a name that is no literal: the compiler would look for types of what need not be installed.
const packageName: string = "socketcan";

async function loadSocketcan(): Promise<SocketcanLibrary> {
  const loaded = (await import(packageName)) as { default?: SocketcanLibrary } & SocketcanLibrary;
  return loaded.default ?? loaded;
}

async function stateOfInterface(name: string): Promise<string> {
  return (await readFile(`/sys/class/net/${name}/operstate`, "utf8")).trim();
}

async function checkInterface(name: string, stateOf: (name: string) => Promise<string>): Promise<void> {
  let state: string;
  try {
    state = await stateOf(name);
  } catch (cause) {
    const fix = "attach the adapter, and see what there is with: ip link";
    throw new LineUnavailableError(`this machine has no interface ${name}; ${fix}`, { cause });
  }
  if (state === "up" || state === "unknown") return;
  throw new LineUnavailableError(
    `${name} is ${state}; bring it up with: sudo ip link set ${name} up type can bitrate 500000`,
  );
}
