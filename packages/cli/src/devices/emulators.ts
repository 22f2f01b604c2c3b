// The boards of a clone's firmware, and what has to be installed to build and emulate one. They are no part of the
// published package: compilers and emulators are not either.
import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Duplex } from "node:stream";
import { pathToFileURL } from "node:url";
import { Failure, misuse } from "../framework/failure.ts";
import { suggestion } from "../framework/nearest.ts";

export interface Target {
  name: string;
  profile: "a" | "b";
  chip: "cortex-m" | "avr" | "8051";
  line: "uart" | "spi";
}

interface Board {
  readonly line: Duplex;
  /** Where the emulator listens, if it does. */
  readonly socketPath: string | undefined;
  readonly ended: Promise<unknown>;
  stop(): Promise<void>;
}

interface StartOptions {
  /** The line is for the program that connects to `socketPath`. */
  isLineLeft?: boolean;
  /** Gives up building. */
  signal?: AbortSignal;
}

export interface Emulators {
  targets: readonly Target[];
  /** Builds what has not been built yet, and starts. It ends with this process, however that ends. */
  start(target: Target, options?: StartOptions): Promise<Board>;
}

/** Debian's packages, by what shows that they are there: a program, or a file. */
const needs: Record<Target["chip"], readonly (readonly [shows: string, name: string])[]> = {
  "cortex-m": [
    ["arm-none-eabi-gcc", "gcc-arm-none-eabi"],
    ["qemu-system-arm", "qemu-system-arm"],
  ],
  avr: [
    ["avr-gcc", "gcc-avr"],
    ["/usr/lib/avr/include/avr/io.h", "avr-libc"],
    ["gcc", "gcc"],
    ["/usr/include/simavr/sim_avr.h", "libsimavr-dev"],
    ["/usr/include/libelf.h", "libelf-dev"],
  ],
  "8051": [
    ["sdcc", "sdcc"],
    ["s51", "sdcc-ucsim"],
  ],
};

const folder = join(import.meta.dirname, "..", "..", "..", "..", "scripts", "firmware");

/** Whether this is a clone. */
export function hasFirmware(): boolean {
  return existsSync(join(folder, "start-board.ts"));
}

export async function loadEmulators(): Promise<Emulators> {
  if (!hasFirmware()) {
    throw new Failure(
      "the boards' firmware is not part of this installation",
      "clone the sources of mcpx and run it there",
    );
  }
  const load = (file: string) => import(pathToFileURL(join(folder, file)).href);
  const [{ targets }, { buildOnce }, { startBoard }] = await Promise.all(
    ["targets.ts", "build.ts", "start-board.ts"].map(load),
  );
  return {
    targets: targets as Target[],
    start: async (target, { isLineLeft = false, signal } = {}) =>
      startBoard(await buildOnce(target, [], signal), { isLineLeft }),
  };
}

export function findTarget({ targets }: Emulators, name: string): Target {
  const target = targets.find((one) => one.name === name);
  if (target !== undefined) return target;
  const known = targets.map((one) => one.name);
  throw misuse(`there is no board ${name}`, suggestion(name, known) ?? `there are ${known.join(", ")}`);
}

/** Debian's packages that are not there. */
export function missingFor(chip: Target["chip"], path: string | undefined): string[] {
  return needs[chip].filter(([shows]) => !isThere(shows, path)).map(([, packageName]) => packageName);
}

export const howToInstall = (packages: readonly string[]) =>
  `on Debian: sudo apt-get install --no-install-recommends ${packages.join(" ")}`;

export function checkInstalled({ name, chip }: Target, path: string | undefined): void {
  const missing = missingFor(chip, path);
  if (missing.length === 0) return;
  const what = missing.length === 1 ? `${missing[0]} is` : `${missing.join(" and ")} are`;
  throw new Failure(`${what} not installed, without which ${name} cannot be emulated`, howToInstall(missing));
}

function isThere(shows: string, path = ""): boolean {
  if (shows.startsWith("/")) return existsSync(shows);
  return path.split(delimiter).some((directory) => isExecutable(join(directory, shows)));
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
