// The boards of a clone's firmware, and what has to be installed to build and emulate one. They are no part of the
// published package: compilers and emulators are not either.
import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Duplex } from "node:stream";
import { pathToFileURL } from "node:url";
import { Failure, misuse } from "../failure.ts";
import { suggestion } from "../nearest.ts";

export interface Target {
  name: string;
  profile: "a" | "b";
  chip: "cortex-m" | "avr" | "8051";
  line: "uart" | "spi";
}

interface Board {
  readonly line: Duplex;
  stop(): Promise<void>;
}

export interface Emulators {
  targets: readonly Target[];
  /** Builds into `directory` and starts. */
  start(target: Target, directory: string): Promise<Board>;
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

const root = join(import.meta.dirname, "..", "..", "..", "..");

export async function loadEmulators(): Promise<Emulators> {
  const folder = join(root, "scripts", "firmware");
  if (!existsSync(join(folder, "start-board.ts"))) {
    throw new Failure(
      "the boards' firmware is not part of this installation",
      "clone the sources of mcpx and run it there",
    );
  }
  const load = (file: string) => import(pathToFileURL(join(folder, file)).href);
  const [{ targets }, { buildTarget }, { startBoard }] = await Promise.all(
    ["targets.ts", "build.ts", "start-board.ts"].map(load),
  );
  return {
    targets: (targets as Target[]).filter(({ line }) => line === "uart"),
    start: async (target, directory) => startBoard(await buildTarget(target, directory)),
  };
}

export function findTarget({ targets }: Emulators, name: string): Target {
  const target = targets.find((one) => one.name === name);
  if (target !== undefined) return target;
  const known = targets.map((one) => one.name);
  throw misuse(`there is no board ${name}`, suggestion(name, known) ?? `there are ${known.join(", ")}`);
}

export function checkInstalled({ name, chip }: Target, path: string | undefined): void {
  const missing = needs[chip]
    .filter(([shows]) => !isThere(shows, path))
    .map(([, packageName]) => packageName);
  if (missing.length === 0) return;
  const what = missing.length === 1 ? `${missing[0]} is` : `${missing.join(" and ")} are`;
  throw new Failure(
    `${what} not installed, without which ${name} cannot be emulated`,
    `on Debian: sudo apt-get install --no-install-recommends ${missing.join(" ")}`,
  );
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
