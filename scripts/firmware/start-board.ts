// Runs an image on its emulated board, with the board's line as a stream. One emulator is one process of ours.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { constants, openSync } from "node:fs";
import { access, mkdtemp, readFile, rm } from "node:fs/promises";
import { connect, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Duplex } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import type { Image } from "./build.ts";
import { keepBuilt } from "./keep-built.ts";
import { endTied, hasEnded, spawnTied } from "./tied-process.ts";

const run = promisify(execFile);

export interface Board extends AsyncDisposable {
  readonly line: Duplex;
  /** Where the emulator listens; the 8052's has no socket. */
  readonly socketPath: string | undefined;
  /** The most bytes of stack used so far, as far as this emulator can tell. Ends the board. */
  stackUsed(): Promise<number>;
  /** Once the emulator is no more, whoever ended it. */
  readonly ended: Promise<unknown>;
  stop(): Promise<void>;
}

interface Start {
  image: Image;
  directory: string;
  /** Leaves the line to somebody else: the board waits for its first connection. */
  isLineLeft: boolean;
}

export interface StartOptions {
  isLineLeft?: boolean;
}

export async function startBoard(image: Image, { isLineLeft = false }: StartOptions = {}): Promise<Board> {
  const directory = await mkdtemp(join(tmpdir(), "mcpx-board-"));
  const start = { image, directory, isLineLeft };
  try {
    return await starters[image.target.chip](start);
  } catch (error) {
    await rm(directory, { recursive: true, force: true });
    throw error;
  }
}

const starters = { "cortex-m": startQemu, avr: startSimavr, "8051": startUcsim };

const startMs = 10_000;

function endOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once("exit", () => resolve());
    // It could not even be started.
    child.once("error", () => resolve());
  });
}

async function until<T>(what: string, child: ChildProcess, attempt: () => Promise<T>): Promise<T> {
  const latest = performance.now() + startMs;
  for (;;) {
    try {
      return await attempt();
    } catch (cause) {
      if (hasEnded(child) || performance.now() > latest) {
        throw new Error(`${what} did not come up`, { cause });
      }
      await pause(10);
    }
  }
}

function connected(path: string, child: ChildProcess): Promise<Socket> {
  return until(path, child, async () => {
    const socket = connect(path);
    await once(socket, "connect");
    return socket;
  });
}

/** No line where it is left to others; they are told once the emulator listens. */
async function lineOf(path: string, child: ChildProcess, { directory, isLineLeft }: Start): Promise<Duplex> {
  try {
    if (!isLineLeft) return await connected(path, child);
    await until(path, child, () => access(path));
    return new Duplex();
  } catch (error) {
    await endTied(child, directory);
    throw error;
  }
}

/** What the stack was painted with at boot. */
const paint = 0xa5;
/** So many painted bytes in a row are below everything that was ever used. */
const untouchedBytes = 32;

function stackUsedIn(memory: Uint8Array): number {
  let painted = 0;
  let at = memory.length;
  while (at > 0 && painted < untouchedBytes) {
    at -= 1;
    painted = memory[at] === paint ? painted + 1 : 0;
  }
  return memory.length - at - painted;
}

const ramStart = 0x2000_0000;
const ramBytes = 16 * 1_024;

async function startQemu(start: Start): Promise<Board> {
  const { image, directory } = start;
  const [serial, monitor, memory] = ["serial", "monitor", "memory"].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  // Waiting for the line keeps what is said at boot.
  const args = ["-M", String(image.target.machine), "-kernel", image.file, "-display", "none"];
  const child = spawnTied(directory, [
    "qemu-system-arm",
    ...args,
    "-monitor",
    `unix:${monitor},server=on,wait=off`,
    "-serial",
    `unix:${serial},server=on,wait=on`,
  ]);
  child.stdout.resume();
  const ended = endOf(child);
  const line = await lineOf(serial, child, start);
  const stop = async () => {
    line.destroy();
    await endTied(child, directory);
  };
  const stackUsed = async () => {
    const console = await connected(monitor, child);
    console.setEncoding("utf8");
    console.write(`memsave ${ramStart} ${ramBytes} "${memory}"\ninfo version\n`);
    // As the core sees it; it has done the first when it answers the second.
    for await (const text of console) if (/^\d+\.\d+/m.test(text)) break;
    const used = stackUsedIn(await readFile(memory));
    await stop();
    return used;
  };
  return { line, socketPath: serial, stackUsed, ended, stop, [Symbol.asyncDispose]: stop };
}

async function buildSimulator(): Promise<string> {
  const source = join(import.meta.dirname, "..", "..", "firmware", "avr", "simulate.c");
  const flags = ["-std=gnu99", "-O2", "-Wall", "-Wextra", "-Werror"];
  const libraries = ["-lsimavr", "-lelf"];
  const headers = ["/usr/include/simavr/sim_avr.h", "/usr/include/libelf.h"];
  const words = [source, ...flags, ...libraries];
  const kept = await keepBuilt({ compiler: "gcc", words, headers }, (directory) =>
    run("gcc", [...flags, "-o", join(directory, "simulate"), source, ...libraries]),
  );
  return join(kept, "simulate");
}

async function startSimavr(start: Start): Promise<Board> {
  const { image, directory } = start;
  const simulator = await buildSimulator();
  const serial = join(directory, "serial");
  const child = spawnTied(directory, [simulator, image.file, serial, image.target.line]);
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  const ended = endOf(child);
  const line = await lineOf(serial, child, start);
  const stop = async () => {
    line.destroy();
    await endTied(child, directory);
  };
  const stackUsed = async () => {
    const closed = once(child, "close");
    line.destroy();
    await closed;
    await stop();
    return Number(/"stack": (\d+)/.exec(printed)?.[1]);
  };
  return { line, socketPath: serial, stackUsed, ended, stop, [Symbol.asyncDispose]: stop };
}

async function startUcsim({ image, directory, isLineLeft }: Start): Promise<Board> {
  if (isLineLeft) throw new Error("the simulator of the 8052 has no socket");
  const [input, output] = [join(directory, "in"), join(directory, "out")];
  await run("mkfifo", [input, output]);
  // Opened both ways, so that neither side waits for the other to open it.
  const flags = constants.O_RDWR | constants.O_NONBLOCK;
  const [into, from] = [openSync(input, flags), openSync(output, flags)];
  const serial = `uart=0,in=${input},out=${output}`;
  const child = spawn(
    "s51",
    ["-t", "8052", "-X", "11059200", "-e", "expr uart0_check_often=1", "-S", serial, "-g", image.file],
    // It ends with its standard input.
    { stdio: ["pipe", "ignore", "ignore"] },
  );
  const ended = endOf(child);
  const line = fifoLine(into, from);
  const stop = async () => {
    line.destroy();
    await endTied(child, directory);
  };
  const stackUsed = () => Promise.reject(new Error("its sensor tells, in an image with MEASURE_STACK"));
  return { line, socketPath: undefined, stackUsed, ended, stop, [Symbol.asyncDispose]: stop };
}

function fifoLine(into: number, from: number): Duplex {
  const readable = new Socket({ fd: from, readable: true, writable: false });
  const writable = new Socket({ fd: into, readable: false, writable: true });
  const line = new Duplex({
    read: () => {},
    write: (bytes, _encoding, done) => void writable.write(bytes, done),
    destroy: (error, done) => {
      readable.destroy();
      writable.destroy();
      done(error);
    },
  });
  readable.on("data", (bytes) => line.push(bytes));
  return line;
}
