// Every transcript of a terminal is typed again, for real: servers, client, kills and all.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newMachine } from "./support/terminal-machine.ts";
import { play } from "./support/terminal-transcript.ts";

const folder = join(import.meta.dirname, "transcripts");

test("what is shown otherwise is told apart, and one process is not two", async () => {
  const written = `# For the reader.

$ echo Milk
Eggs

$ echo Bread
Butter
`;
  expect(await play(written, newMachine())).toBe(written.replace("Eggs", "Milk"));
  const twice = "$ echo pid 12; echo pid 12\npid <pid of one>\npid <pid of another>\n";
  expect(await play(twice, newMachine())).toBe(twice.replace("<pid of another>", "12"));
});

test.for(readdirSync(folder))("%s is what a terminal shows", { timeout: 240_000 }, async (file) => {
  const written = readFileSync(join(folder, file), "utf8");
  expect(await play(written, newMachine())).toBe(written);
});
