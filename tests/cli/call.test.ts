// `mcpx call` asks before it calls a tool that is not believed to only read.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { mcpxCommand, programArgs } from "../support/programs.ts";
import { mcpx, scratch, start, up } from "./support/mcpx-process.ts";

const slow = { timeout: 60_000 };

/** The same server twice: only one is trusted. */
async function openTree(): Promise<string> {
  const dataDir = scratch();
  const args = [...programArgs("tests/gates/support/shredder.ts"), join(dataDir, "traces")];
  const server = { command: process.execPath, args };
  const mcpServers = { papers: { ...server, trusted: true }, strange: server };
  const gates = { rules: [{ tools: "**", action: "allow" }] };
  writeFileSync(join(dataDir, "mcpx.json"), JSON.stringify({ mcpServers, gates }));
  await up(dataDir, [], { cwd: dataDir });
  return dataDir;
}

test(
  "[X0-9-1] where nobody can be asked, only what is trusted to only read is called without --yes",
  slow,
  async () => {
    const dataDir = await openTree();
    const call = (...words: string[]) => mcpx(["call", ...words, "--data", dataDir]);
    expect(await call("papers.look")).toMatchObject({ code: 0, out: "look is done" });
    expect(await call("mcpax.status")).toMatchObject({ code: 0 });
    // Its server says that it only reads, and nobody has said that its server is to be believed.
    for (const name of ["strange.look", "papers.shred", "papers.mute"]) {
      expect(await call(name)).toEqual({
        code: 1,
        out: "",
        err: `mcpx: nothing was called: ${name} may change something, and there is no terminal to ask for confirmation; add --yes`,
      });
    }
    expect(await call("papers.shred", "--json")).toMatchObject({ code: 1, out: "" });
    expect(await call("strange.look", "--yes")).toMatchObject({ code: 0, out: "look is done" });
  },
);

test("[X0-9-1] at a terminal it shows the call as it was typed, and sends it on y alone", slow, async () => {
  const dataDir = await openTree();
  const python = ["python3", join(import.meta.dirname, "support", "terminal.py")] as const;
  const args = '{"paper": "taxes", "copies": 9007199254740993}';
  for (const [answer, code] of [
    ["n", 1],
    ["", 1],
    ["yes please", 1],
    ["y", 0],
  ] as const) {
    const typed = start([...mcpxCommand, "call", "papers.shred", args, "--data", dataDir], {
      program: python,
      isTyped: true,
      env: { TERM: "xterm" },
    });
    await typed.line(/Call papers\.shred with \{"paper":"taxes","copies":9007199254740993\}\?/);
    typed.press(`${answer}\r`);
    await typed.line(code === 0 ? /shred is done/ : /nothing was called/);
    await typed.ended;
  }
});
