import { expect, test } from "vitest";
import { version } from "../framework/version.ts";
import { runMcpx as run } from "../testing/run-mcpx.ts";
import { commands } from "./commands.ts";

test.each([[], ["help"], ["--help"], ["-h"]].map((args) => ({ args })))(
  "mcpx $args shows all commands",
  async ({ args }) => {
    const { code, out, err } = await run(...args);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    for (const { name, summary } of commands) {
      expect(out).toContain(`  ${name} `);
      expect(out).toContain(summary);
    }
  },
);

test.each(commands.map(({ name }) => name))("mcpx %s --help shows its options and examples", async (name) => {
  const command = await commands.find((one) => one.name === name)?.load();
  const { code, out } = await run(...name.split(" "), "--help");
  expect(code).toBe(0);
  for (const option of [...Object.keys(command?.options ?? {}), "json"]) expect(out).toContain(`--${option}`);
  expect(command?.examples.length).toBeGreaterThan(0);
  expect((await run("help", ...name.split(" "))).out).toBe(out);
  for (const line of out.split("\n")) expect(line.length).toBeLessThanOrEqual(110);
});

test("a word that only begins commands shows those", async () => {
  expect((await run("key", "--help")).out).toContain("key new");
  expect(await run("key")).toEqual({
    code: 2,
    out: "",
    err: "mcpx: key needs a subcommand; write mcpx key new or mcpx key seal or mcpx key show or mcpx key enroll or mcpx key list or mcpx key remove or mcpx key log or mcpx key reset\n",
  });
});

test("mcpx --version prints the version alone", async () => {
  expect(await run("--version")).toEqual({ code: 0, out: `${version}\n`, err: "" });
});

test.each([
  [["tial"], 'mcpx: unknown command "tial"; did you mean tail?'],
  [["frobnicate"], 'mcpx: unknown command "frobnicate"; see mcpx help'],
  [["up", "--prot", "1"], "mcpx: unknown option --prot; did you mean --port?"],
  [["up", "--frobnicate"], "mcpx: unknown option --frobnicate; see --help"],
  [["up", "-x"], "mcpx: unknown option -x; see --help"],
  [["up", "--port"], "mcpx: --port needs a value; write --port N"],
  [
    ["up", "--port", "--open"],
    "mcpx: --port needs a value and --open looks like an option; write --port=--open",
  ],
  [["up", "--open=1"], "mcpx: --open takes no value"],
  [["up", "--port=1", "--port=2"], "mcpx: --port is given twice; give it once"],
  [["up", "--port", "http"], 'mcpx: invalid value "http" for --port; expected a number from 0 to 65535'],
  [["--json", "up"], "mcpx: --json comes before the command; write mcpx COMMAND [options]"],
  [["tail"], "mcpx: missing argument: ROOM; usage: mcpx tail ROOM [--history N] [--no-follow]"],
  [["token", "lst"], 'mcpx: token does not take "lst"; did you mean mcpx token list?'],
  [["token", "--topic", "t"], "mcpx: --id is missing; say whose token it is: --id alice"],
  [
    ["token", "--id", "system:x", "--topic", "t"],
    "mcpx: system:x is reserved for the gateway itself; choose another id",
  ],
  [["token", "--id", "a", "--topic", "t", "--ttl", "1y"], /^mcpx: --ttl 1y is not a duration/],
  [["token", "--id", "a", "--topic", "t", "--level", "ful"], /did you mean --level full\?$/],
  [["tail", "a b"], /^mcpx: "a b" cannot be a room's name; use 1 to 128/],
  [
    ["tail", "r", "--url", "http://x"],
    "mcpx: --url needs a token of that gateway; give --token TOKEN or set MCPX_TOKEN",
  ],
  [["tail", "r", "--token", "t", "--id", "x"], /^mcpx: --id cannot be combined with --token/],
  [["audit", "--limit", "0"], "mcpx: --limit 0 is not a whole number from 1 to 1000"],
  [["tail", "\u001b[2J"], /^mcpx: "\\u001b\[2J" cannot be/],
])("a wrong command line %j is one line, exit 2", async (args, line) => {
  const { code, out, err } = await run(...args);
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err.trimEnd()).toEqual(typeof line === "string" ? line : expect.stringMatching(line));
  expect(err.match(/\n/g)).toHaveLength(1);
});

test("a failure is one line with its way out, exit 1", async () => {
  expect(await run("tail", "demo")).toEqual({
    code: 1,
    out: "",
    err: "mcpx: no gateway is running on /nowhere/.local/share/mcpx; start it with mcpx up, or give --url and --token for another\n",
  });
  expect((await run("audit")).err).toBe(
    "mcpx: there is no data of a gateway in /nowhere/.local/share/mcpx; run mcpx up first, or give --data DIR\n",
  );
});
