// Everything that the vectors let a stub hear, over its line, for measuring what that takes of its stack.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import type { Target } from "./targets.ts";

const vectors = join(import.meta.dirname, "..", "..", "spec", "vectors", "devices");

interface Exchange {
  hears: string[];
}

function exchangesOf(profile: Target["profile"]): Exchange[] {
  return JSON.parse(readFileSync(join(vectors, `profile-${profile}.json`), "utf8")).exchanges;
}

/** Packets here are shorter than a block of COBS. */
function cobs(packet: Buffer): Buffer {
  const blocks: number[] = [];
  let codeAt = 0;
  blocks.push(1);
  for (const byte of packet) {
    if (byte === 0) codeAt = blocks.push(1) - 1;
    else {
      blocks.push(byte);
      blocks[codeAt] = (blocks[codeAt] as number) + 1;
    }
  }
  return Buffer.from([0, ...blocks, 0]);
}

/** As long as any answer of the demonstration. */
const spiIdle = Buffer.alloc(64, 0xff);

/** As the simulator takes it: chip select is down for so many bytes. */
export function transaction(bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 0xff]), bytes]);
}

function framed({ profile, line }: Target, heard: string): Buffer {
  const bytes = Buffer.from(heard, "hex");
  if (profile === "a") return bytes;
  if (line === "uart") return cobs(bytes);
  return transaction(Buffer.concat([Buffer.from([0, bytes.length]), bytes, spiIdle]));
}

/** Resolves with what came back once the line has been quiet for a while after the last frame. */
export async function exercise(line: Duplex, target: Target): Promise<Buffer> {
  const heard: Buffer[] = [];
  line.on("data", (bytes: Buffer) => heard.push(bytes));
  for (const { hears } of exchangesOf(target.profile)) {
    for (const one of hears) line.write(framed(target, one));
    // The first one is answered by every stub, however long its emulator takes to start.
    if (heard.length === 0) await once(line, "data", { signal: AbortSignal.timeout(startMs) });
    // A stub that is answering does not hear.
    await quiet(heard);
  }
  return Buffer.concat(heard);
}

const quietMs = 25;
const startMs = 10_000;

async function quiet(heard: readonly Buffer[]): Promise<void> {
  for (let before = -1; before !== heard.length; ) {
    before = heard.length;
    await pause(quietMs);
  }
}
