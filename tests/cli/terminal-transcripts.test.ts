// Every transcript of a terminal is typed again, for real: servers, client, kills and all.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newMachine } from "./support/terminal-machine.ts";
import { play } from "./support/terminal-transcript.ts";

const folder = join(import.meta.dirname, "transcripts");

test.for(readdirSync(folder))("%s is what a terminal shows", { timeout: 120_000 }, async (file) => {
  const written = readFileSync(join(folder, file), "utf8");
  expect(await play(written, newMachine())).toBe(written);
});
