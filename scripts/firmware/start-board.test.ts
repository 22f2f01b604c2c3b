import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Image } from "./build.ts";
import { startBoard } from "./start-board.ts";
import { targets } from "./targets.ts";

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "mcpx-boards-"));
  vi.stubEnv("TMPDIR", directory);
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true });
});

test.each(["avr", "8051"])("a board of the %s that cannot be started leaves nothing behind", async (chip) => {
  const target = targets.find((one) => one.chip === chip) as Image["target"];
  const image: Image = { target, file: "image", sizes: {} as Image["sizes"] };
  // Neither a compiler for the simulator nor mkfifo.
  vi.stubEnv("PATH", "/nonexistent");
  await expect(startBoard(image)).rejects.toThrow(/gcc is not installed|mkfifo/);
  expect(readdirSync(directory).filter((name) => name.startsWith("mcpx-board-"))).toEqual([]);
});
