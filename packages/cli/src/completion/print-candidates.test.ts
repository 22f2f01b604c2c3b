import { expect, test } from "vitest";
import { commands } from "../command-line/commands.ts";
import { runMcpx } from "../testing/run-mcpx.ts";

/** The first line, and the words of the others; no gateway runs. */
async function complete(...words: string[]): Promise<{ duty: string; words: string[]; lines: string[] }> {
  const { code, out, err } = await runMcpx("__complete", "--", ...words);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  const [duty = "", ...lines] = out.trimEnd().split("\n");
  return { duty, lines, words: lines.map((line) => line.split("\t")[0] ?? "") };
}

test("every command is offered, by its first word and then by its second", async () => {
  const first = await complete("");
  expect(new Set(first.words)).toEqual(new Set([...commands.map(({ name }) => name.split(" ")[0]), "help"]));
  for (const { name, summary } of commands) {
    const words = name.split(" ");
    expect((await complete(...words)).lines, name).toContain(`${words.at(-1)}\t${summary}`);
  }
});

test("every option of every command is offered, until it is given", async () => {
  for (const listed of commands) {
    const { options } = await listed.load();
    const name = listed.name.split(" ");
    const names = [...Object.keys(options), "json", "help"].map((option) => `--${option}`);
    expect((await complete(...name, "--")).words, listed.name).toEqual(names);
    expect((await complete(...name, "--json", "--js")).words).toEqual([]);
  }
});

test.each<[string[], string[]]>([
  [
    ["token", "--level", ""],
    ["restricted", "responder", "full"],
  ],
  [
    ["token", "--level", "re"],
    ["restricted", "responder"],
  ],
  [["token", "--level=f"], ["--level=full"]],
  [
    ["token", "--topic", "a", "--topic", "b", "--to"],
    ["--topic", "--tools"],
  ],
  [
    ["add", "x", "--unannotated", ""],
    ["ask", "allow"],
  ],
  [
    ["panic", ""],
    ["on", "off"],
  ],
  [
    ["grants", ""],
    ["add", "revoke", "list"],
  ],
  [
    ["connect", "c"],
    ["claude-desktop", "claude-code", "cursor", "codex"],
  ],
  [["import", "cursor", "v"], ["vscode"]],
  [
    ["help", "cert", "c"],
    ["ca", "client"],
  ],
  [["key", "n"], ["new"]],
  [["--v"], ["--version"]],
])("%j can become %j", async (given, expected) => {
  expect(await complete(...given)).toMatchObject({ duty: "words", words: expected });
});

test.each([
  [["nonsense", ""]],
  [["token", "--level", "zz"]],
  [["token", "--level=zz"]],
  [["token", "--frobnicate", ""]],
  [["token", "--frobnicate=", ""]],
  [["token", "--__proto__=x"]],
  [["constructor", ""]],
  [["completion", "bash", ""]],
  [["say", "demo", "--", "--"]],
  [["add", "x", "https://example.com", "--unannotated", "ask", "--una"]],
  [["tail", ""]],
])("%j can become nothing", async (given) => {
  expect(await complete(...given)).toEqual({ duty: "words", words: [], lines: [] });
});

test.each([
  [["key", "show", ""], "files"],
  [["up", "--config", ""], "files"],
  [["up", "--data", ""], "directories"],
  [["backup", ""], "directories"],
  [["serve", "demo", "x", "--", ""], "commands"],
  [["serve", "demo", "x", "--", "node", ""], "files"],
])("%j is completed by the shell: %s", async (given, duty) => {
  expect(await complete(...given)).toEqual({ duty, words: [], lines: [] });
});
