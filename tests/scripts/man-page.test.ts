// Manual pages, read by the program that shows them.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { commands } from "../../packages/cli/src/command-line/commands.ts";
import { commonOptions, defineCommand } from "../../packages/cli/src/framework/command.ts";
import { commandPage, manFileOf } from "../../scripts/release/man-page.ts";

const root = dirname(dirname(import.meta.dirname));
const folder = mkdtempSync(join(tmpdir(), "mcpx-man-"));

afterAll(() => rmSync(folder, { recursive: true }));

/** As a terminal shows it, and what groff has to say of it. */
function shown(text: string): { text: string; warnings: string } {
  const { stdout, stderr } = spawnSync("groff", ["-man", "-Tutf8", "-ww", "-P-cbou"], {
    input: text,
    encoding: "utf8",
  });
  return { text: stdout, warnings: stderr };
}

test("every command has a page that groff takes without a warning, with all of its options and examples", async () => {
  execFileSync(process.execPath, ["--conditions=mcpx-source", "scripts/man-pages.ts", folder], { cwd: root });
  const files = commands.map(({ name }) => manFileOf(name));
  expect(readdirSync(folder).sort()).toEqual([...files, "mcpx.1"].sort());
  const all = readdirSync(folder).map((file) => readFileSync(join(folder, file), "utf8"));
  expect(shown(all.join("")).warnings).toBe("");
  const flat = (text: string) => text.replace(/\s+/g, " ");
  for (const one of commands.filter(({ name }) => ["up", "token list", "call"].includes(name))) {
    const { options, examples, summary } = await one.load();
    const page = flat(shown(readFileSync(join(folder, manFileOf(one.name)), "utf8")).text);
    expect(page).toContain(flat(summary));
    for (const [option, { about }] of Object.entries({ ...options, ...commonOptions })) {
      expect(page).toContain(`--${option}`);
      expect(page).toContain(flat(about));
    }
    for (const [line] of examples) expect(page).toContain(flat(line));
  }
});

test("what roff would take for its own is shown as it was written", () => {
  const odd = ".TH \\fB 'a' \"b\" `c` ~/x^2 -- ä…";
  const body = defineCommand({
    usage: "",
    words: { min: 0, max: 0 },
    options: {},
    examples: [[odd, `'\n${odd}`.slice(2)]],
    run: async () => 0,
  });
  const page = commandPage({ ...body, name: "odd", summary: odd }, { version: "1", common: {}, related: [] });
  const { text, warnings } = shown(page);
  expect(warnings).toBe("");
  expect(text.split(odd)).toHaveLength(4);
});
