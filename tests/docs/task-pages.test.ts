// The pages that tell how something is done are done, command by command, on a machine of their own.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { newMachine } from "../cli/support/terminal-machine.ts";
import { play } from "../cli/support/terminal-transcript.ts";

const folder = join(dirname(dirname(import.meta.dirname)), "docs", "tasks");
const pages = readdirSync(folder);

/** What stands in the terminals of the page, in order. */
function terminalsOf(page: string): string {
  return [...page.matchAll(/^```console\n([\s\S]*?)^```$/gm)]
    .map(([, text = ""]) => text)
    .join("")
    .trimEnd();
}

test.for(pages)("%s: every command does what the page shows", { timeout: 240_000 }, async (file) => {
  const written = terminalsOf(readFileSync(join(folder, file), "utf8"));
  expect(written.match(/^[$~] /gm)?.length).toBeGreaterThan(3);
  expect(await play(written, newMachine())).toBe(written);
});
