// What help and docs/TERMINAL.md promise of every command: examples that are right, `--json` as it is written down,
// exit codes, and nothing on a pipe that belongs on a terminal.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commands } from "../../packages/cli/src/command-line/commands.ts";
import { findCommand } from "../../packages/cli/src/command-line/find-command.ts";
import { checkWords, parseOptions } from "../../packages/cli/src/framework/parse-options.ts";
import { mcpxCommand } from "../support/programs.ts";
import { mcpx, scratch, start, up } from "./support/mcpx-process.ts";
import { mcpxDirectory } from "./support/shells.ts";

const [, page = ""] = readFileSync(
  join(import.meta.dirname, "..", "..", "docs", "TERMINAL.md"),
  "utf8",
).split("\n## For programs");
const names = commands.map(({ name }) => name);

/** The members of what `--json` prints, by command, as the page has them; `?` at the end of some. */
const shapes = new Map(
  [...page.matchAll(/^\| `([a-z]+(?: [a-z-]+)?)` \| (.+) \|$/gm)].map(([, name = "", cell = ""]) => [
    name,
    /^`\{([^}]+)\}`/.exec(cell)?.[1]?.split(", "),
  ]),
);

/** The words of each mcpx in a shell line, as bash hands them over. */
function invocations(line: string): string[][] {
  const home = scratch();
  const paths = [".local/share/bash-completion/completions", ".zfunc", ".config/fish/completions"];
  for (const path of paths) mkdirSync(join(home, path), { recursive: true });
  const others = ["jq", "gzip", "cp", "rm", "echo", "cat"].map((name) => `${name}() { :; };`).join(" ");
  const script = `mcpx() { printf '%s\\0' mcpx "$@" >&3; }; ${others} ${line}`;
  const seen = join(home, "seen");
  execFileSync("bash", ["-c", `exec 3>'${seen}'; ${script}`], {
    cwd: home,
    env: { PATH: "/usr/bin:/bin", HOME: home, TOKEN: "t" },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const words = readFileSync(seen, "utf8").split("\0").slice(0, -1);
  const starts = words.flatMap((word, at) => (word === "mcpx" ? [at] : []));
  return starts.map((at, index) => words.slice(at + 1, starts[index + 1]));
}

test.each(names)("the examples of mcpx %s are command lines that it takes", async (name) => {
  const command = await commands.find((one) => one.name === name)?.load();
  const seen = new Set<string>();
  for (const [line, meaning] of command?.examples ?? []) {
    expect(meaning, line).not.toBe("");
    if (!line.includes("mcpx ")) continue;
    // Inside quotes it is text.
    const given = line.startsWith("echo 'source") ? [["completion", "bash"]] : invocations(line);
    expect(given.length, line).toBeGreaterThan(0);
    for (const args of given) {
      const { listed, rest } = findCommand(args);
      const meant = await listed?.load();
      if (meant === undefined) throw new Error(`${line}: no such command`);
      const { words } = parseOptions(meant, rest);
      checkWords(meant, words, names);
      seen.add(meant.name);
    }
  }
  expect([...seen]).toContain(name);
});

test("the control: a wrong example is noticed", async () => {
  const [args = []] = invocations("mcpx token --topic demo --idd 'a b' | jq .");
  expect(args).toEqual(["token", "--topic", "demo", "--idd", "a b"]);
  const { listed, rest } = findCommand(args);
  const token = await listed?.load();
  if (token === undefined) throw new Error("token is a command");
  expect(() => parseOptions(token, rest)).toThrow("unknown option --idd; did you mean --id?");
});

test("that panic without a word is on is said before it is tried", async () => {
  expect((await mcpx(["panic", "--help"])).out).toMatch(/^Usage: .*on is the default/m);
});

test("the page has what --json prints of every command, and of no other", () => {
  expect([...shapes.keys()].toSorted()).toEqual(names.toSorted());
});

/** Those that end by themselves and find what they ask for at any gateway; in each row one after the other. */
const runnable = [
  ["token", "say", "peers", "console"],
  ["key new", "key show", "cert ca", "cert server"],
  ["tree", "call", "tools", "tools accept"],
  ["rules", "rules test", "pending", "grants"],
  ["audit", "token list", "backup"],
];

/** These change what the others see. */
const last = ["panic", "add", "remove"];

/** Where the first example needs more than a gateway. */
const others: Readonly<Record<string, number>> = { "tools accept": 1, "key new": 2, "key show": 1 };

test("examples as help shows them run at a gateway, and print with --json what the page says", {
  timeout: 240_000,
}, async () => {
  const dataDir = scratch();
  await up(dataDir);
  const env = { PATH: `${mcpxDirectory()}:/usr/bin:/bin`, MCPX_DATA: dataDir, HOME: dataDir };
  const bash = { cwd: scratch(), env, program: ["bash", "-c"] } as const;
  const printed = new Map<string, string[]>();
  const runExample = async (name: string) => {
    const { examples = [] } = (await commands.find((one) => one.name === name)?.load()) ?? {};
    const [line = ""] = examples[others[name] ?? 0] ?? [];
    expect(line).toContain(`mcpx ${name}`);
    const { code, out, err } = await mcpx([line.replace(/( -- |$)/, " --json$1")], bash);
    expect({ code, err, line }).toEqual({ code: 0, err: "", line });
    const value: unknown = JSON.parse(out);
    if (shapes.get(name) !== undefined) printed.set(name, Object.keys(value as object).toSorted());
  };
  const runInTurn = async (names: readonly string[]) => {
    for (const name of names) await runExample(name);
  };
  await Promise.all(runnable.map(runInTurn));
  await runInTurn(last);
  const promised = [...printed.keys()].map((name) => [name, shapes.get(name)?.filter(isSure).toSorted()]);
  expect(Object.fromEntries(printed)).toEqual(Object.fromEntries(promised));
});

function isSure(member: string): boolean {
  return !member.endsWith("?");
}

const terminal = join(import.meta.dirname, "support", "terminal.py");

test("colours and progress are for terminals, and NO_COLOR is heard there too", {
  timeout: 120_000,
}, async () => {
  // Node takes a terminal in CI for one without colours.
  const atTerminal = {
    program: ["env", "-u", "CI", "TERM=xterm-256color", "python3", terminal, ...mcpxCommand],
  } as const;
  const colour = "\u001b[";
  const help = async (env: Record<string, string>, more: object = {}) =>
    (await mcpx(["rules", "--help"], { env, ...more })).out;
  expect(await help({ NO_COLOR: "" }, atTerminal)).toContain(colour);
  expect(await help({ NO_COLOR: "1" }, atTerminal)).not.toContain(colour);
  expect(await help({ NO_COLOR: "" })).not.toContain(colour);

  const dataDir = scratch();
  // Never says a word, so that there is something to wait for.
  const silent = {
    command: process.execPath,
    args: ["-e", "setInterval(() => {}, 1000)"],
    listTimeout: "3s",
  };
  writeFileSync(join(dataDir, "mcpx.json"), JSON.stringify({ mcpServers: { silent } }));
  await up(dataDir);
  const env = { MCPX_DATA: dataDir };
  const watched = start(["tree"], { env, ...atTerminal });
  const piped = await mcpx(["tree"], { env });
  expect(piped).toMatchObject({ code: 0, err: "" });
  await watched.ended;
  expect(watched.out.join("\n")).toMatch(/^0 of 1 server is up, 1 starting/);
  expect(piped.out).not.toContain("starting");
});

test.each([
  [["token", "--help"], 0, /^mcpx token {2}print a token/, /^$/],
  [["help"], 0, /^mcpx {2}rooms where/, /^$/],
  [["tail", "demo"], 1, /^$/, /^mcpx: no gateway is running on [^\n]+; start it with npx mcpx up[^\n]*$/],
  [["tree", "--tolls"], 2, /^$/, /^mcpx: unknown option --tolls; did you mean --tools\?$/],
  [["completion", "bsh"], 2, /^$/, /^mcpx: there is no completion for bsh; did you mean bash\?$/],
])("mcpx %j ends with %i", async (args, code, out, err) => {
  const ended = await mcpx(args, { env: { MCPX_DATA: scratch() } });
  expect(ended.code).toBe(code);
  expect(ended.out).toMatch(out);
  expect(ended.err).toMatch(err);
});
