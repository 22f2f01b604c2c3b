// Bluetooth controllers that are emulated by BlueZ's btvirt, each on a serial port (a pseudo terminal) as adapters with a
// UART are; they are in reach of each other. No driver of the kernel is needed.
import { existsSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { type SerialPort, startSerialPort } from "../start-serial-port.ts";
import { endTied, hasEnded, spawnTied, type TiedProcess } from "../tied-process.ts";

export interface Controllers extends AsyncDisposable {
  /** The path of another controller's port. */
  add(): Promise<string>;
}

const startMs = 10_000;

/** Rejects where Bluetooth cannot be emulated, and says why. */
export async function startControllers(): Promise<Controllers> {
  const directory = await mkdtemp(join(tmpdir(), "mcpx-bluetooth-"));
  const emulator = startEmulator(directory);
  const printed = text(emulator.stdout);
  const socket = join(directory, "bt-server-le");
  const latest = performance.now() + startMs;
  while (!existsSync(socket)) {
    if (hasEnded(emulator) || performance.now() > latest) {
      await endTied(emulator, directory);
      throw new Error(`btvirt did not start: ${(await printed).trim()}`);
    }
    await pause(10);
  }
  const ports: SerialPort[] = [];
  return {
    add: async () => {
      const port = await startSerialPort(socket);
      ports.push(port);
      return port.path;
    },
    [Symbol.asyncDispose]: async () => {
      for (const port of ports.reverse()) await port[Symbol.asyncDispose]();
      await endTied(emulator, directory);
    },
  };
}

/** Its sockets have fixed names below /tmp, so it sees a directory of ours there. */
const inItsOwnTmp = `exec 2>&1
gcc -shared -fPIC -O1 -Wall -Wextra -Werror -o "$1/preload.so" "$2" || exit
exec unshare "$3" --mount sh -c 'mount --bind "$1" /tmp && LD_PRELOAD=/tmp/preload.so exec btvirt -s' sh "$1"`;

function startEmulator(directory: string): TiedProcess {
  const source = join(import.meta.dirname, "without-af-alg.c");
  const mine = process.getuid?.() === 0 ? "--mount" : "--map-root-user";
  return spawnTied(directory, ["sh", "-c", inItsOwnTmp, "sh", directory, source, mine]);
}
