// `mcpx completion` in the shells themselves: what they offer, and that names of strangers stay names.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { mcpx, scratch, start, up } from "./support/mcpx-process.ts";
import { openShell, shellNames } from "./support/shells.ts";

/** What a gateway, or somebody who has one in his hand, could call things. */
const hostile = [
  "$(touch made)",
  "`touch made`",
  "; touch made",
  "two words",
  "it's",
  'say "hi"',
  "back\\slash",
  "a&b|c>d<e",
  "glob*?[a]",
  "dollar$HOME",
  "ü-ñ",
];

/** Nobody could type these, and they could steer a terminal or end a line. */
const unspeakable = [
  "new\nline",
  "tab\tulator",
  "\u001b]0;title\u0007",
  "right\u202eleft",
  "zero\u200bwidth",
  "-rf",
  "~root",
  "x".repeat(300),
];

/** Answers what it is asked for with these names, as a gateway does. */
async function startNames(
  names: readonly string[],
  { isSilent = false } = {},
): Promise<{ dataDir: string; asked: string[]; heldMs: number[] }> {
  const dataDir = scratch();
  const asked: string[] = [];
  const heldMs: number[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.headers.authorization} ${request.url}`);
    const began = performance.now();
    response.on("close", () => heldMs.push(performance.now() - began));
    if (!isSilent) response.end(JSON.stringify({ names }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const lock = new DatabaseSync(join(dataDir, "gateway.lock"));
  lock.exec("BEGIN EXCLUSIVE");
  onTestFinished(() => {
    lock.close();
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  writeFileSync(join(dataDir, "gateway.json"), JSON.stringify({ url, pid: process.pid, names: "key" }));
  return { dataDir, asked, heldMs };
}

/** `tiny`, whose tools say nothing of their danger, and one that nobody starts. */
function writeConfig(dir: string): string {
  const path = join(dir, "mcpx.json");
  const tiny = { command: process.execPath, args: [join(import.meta.dirname, "support", "tiny-server.ts")] };
  const mcpServers = { tiny, "two words": { command: "nowhere-to-be-found" } };
  writeFileSync(path, JSON.stringify({ mcpServers, profiles: { reading: { tools: ["tiny.pids"] } } }));
  return path;
}

/** What a shell asks for: the last word may be unfinished. */
async function candidates(dataDir: string, ...words: string[]): Promise<string[]> {
  const { code, out, err } = await mcpx(["__complete", "--", ...words], {
    env: { MCPX_DATA: dataDir, MCPX_COMPLETION_MS: "10000" },
  });
  expect({ code, err }).toEqual({ code: 0, err: "" });
  return out
    .split("\n")
    .slice(1)
    .map((line) => line.split("\t")[0] as string);
}

/** Each Tab is a process, and so is each shell. */
const slow = { timeout: 120_000 };

test.each(shellNames)(
  "%s completes commands, options, values and files, and nothing where none fits",
  slow,
  async (name) => {
    const shell = await openShell(name, { MCPX_DATA: scratch() });
    expect(await shell.complete("mcpx token r")).toEqual(["revoke", "rotate"]);
    expect(await shell.complete("mcpx token --le")).toEqual(["--level"]);
    expect(await shell.complete("mcpx token --level re")).toEqual(["responder", "restricted"]);
    // Bash knows only what stands behind the equals sign.
    const prefix = name === "bash" ? "" : "--level=";
    const values = ["--level=responder", `${prefix}restricted`];
    expect(await shell.complete("mcpx token --level=re")).toEqual(values);
    writeFileSync(join(shell.cwd, "my key.jwk"), "");
    expect(await shell.complete("mcpx key show my")).toEqual(["my key.jwk"]);
    expect(await shell.complete("mcpx token --level zz")).toEqual([]);
    expect(await shell.complete("mcpx nonsense my")).toEqual([]);
  },
);

test.each(shellNames)(
  "%s completes rooms, tools and servers as the gateway knows them",
  slow,
  async (name) => {
    const dataDir = scratch();
    const gateway = await up(dataDir, ["--config", writeConfig(dataDir)]);
    await mcpx(["tools", "--data", dataDir]);
    await mcpx(["say", "kitchen", "hi", "--data", dataDir]);
    await mcpx(["say", "team/a:b@c", "hi", "--data", dataDir]);
    const shell = await openShell(name, { MCPX_DATA: dataDir });
    expect(await shell.complete("mcpx tail ")).toEqual(["kitchen", "team/a:b@c"]);
    expect(await shell.complete("mcpx tail team/a:b")).toEqual(["team/a:b@c"]);
    expect(await shell.complete("mcpx tail 'kit")).toEqual(["kitchen"]);
    expect(await shell.complete("mcpx call tiny.p")).toEqual(["tiny.params", "tiny.pids"]);
    expect(await shell.complete("mcpx remove ")).toEqual(["tiny", "two words"]);
    gateway.kill("SIGTERM");
    await gateway.ended;
    expect(await shell.complete("mcpx tail ")).toEqual([]);
  },
);

test.each(shellNames)(
  "%s puts hostile names on the line as words, and runs none of them",
  slow,
  async (name) => {
    const { dataDir, asked } = await startNames([...hostile, ...unspeakable]);
    const shell = await openShell(name, { MCPX_DATA: dataDir });
    expect(await shell.complete("mcpx call ")).toEqual(hostile.toSorted());
    expect(asked).toEqual(["Bearer key /admin/names?of=tool"]);
    expect(await shell.complete("mcpx call \\$")).toEqual(["$(touch made)"]);
    expect(readdirSync(shell.cwd)).not.toContain("made");
  },
);

test("the control: a word list that bash expands does run them", async () => {
  const shell = await openShell("bash", { MCPX_DATA: scratch(), WORDS: "$(touch made)" });
  await shell.run('_careless() { COMPREPLY=($(compgen -W "$WORDS" -- "")); }; complete -F _careless mcpx');
  await shell.complete("mcpx call ");
  expect(readdirSync(shell.cwd)).toContain("made");
});

test(
  "who is there and what waits for a decision is offered where it belongs, and nobody notices",
  slow,
  async () => {
    const dataDir = scratch();
    await up(dataDir, ["--config", writeConfig(dataDir)]);
    const env = { MCPX_DATA: dataDir };
    const tiny = join(import.meta.dirname, "support", "tiny-server.ts");
    const served = start(["serve", "kitchen", "oven", "--", process.execPath, tiny], { env });
    await served.line(/^oven is in kitchen/);
    const novice = start(["join", "kitchen", "--id", "novice", "--level", "restricted"], {
      env,
      isTyped: true,
    });
    await novice.line(/with oven/);
    novice.type('/propose oven params {"celsius": 220} bread');
    await novice.line(/proposal 1 is made/);
    const call = start(["call", "tiny.params", "--yes"], { env });
    await call.line(/waits for approval/);
    const heard = novice.out.length;
    expect(await candidates(dataDir, "approve", "kitchen", "--to", "")).toEqual(["oven", "novice"]);
    const [proposal, ...noMore] = await candidates(dataDir, "approve", "kitchen", "");
    expect(noMore).toEqual([]);
    const [gate, room, ...nothingElse] = (await candidates(dataDir, "approve", "")).toSorted(byLength);
    expect([room, nothingElse]).toEqual(["kitchen", []]);
    expect(novice.out.slice(heard)).toEqual([]);
    const { out: waiting } = await mcpx(["pending", "kitchen"], { env });
    for (const id of [proposal, gate]) expect(waiting).toContain(id);
    // The control: what is done is not offered any more, and whoever joins is heard.
    await mcpx(["approve", "kitchen", String(proposal)], { env });
    expect(await candidates(dataDir, "approve", "kitchen", "")).toEqual([]);
    expect(novice.out.slice(heard)).not.toEqual([]);
  },
);

function byLength(a: string, b: string): number {
  return b.length - a.length;
}

test("a gateway that does not answer, and one that answers nonsense, keep nobody waiting", slow, async () => {
  const silent = await startNames([], { isSilent: true });
  const env = { MCPX_DATA: silent.dataDir };
  expect(await mcpx(["__complete", "--", "tail", ""], { env })).toEqual({ code: 0, out: "words", err: "" });
  expect(silent.asked).toHaveLength(1);
  // Far more than it is given, and far less than what others wait for an answer.
  expect(Math.max(...silent.heldMs)).toBeLessThan(5_000);
  const odd = await startNames("not a list" as unknown as string[]);
  expect(await candidates(odd.dataDir, "tail", "")).toEqual([]);
});

test(
  "nothing is asked of an address that is being typed, nor made where there is no gateway",
  slow,
  async () => {
    const { dataDir, asked } = await startNames(["kitchen"]);
    expect(
      await candidates(dataDir, "tail", "--url", "https://example.com", "--token", "secret", ""),
    ).toEqual([]);
    expect(await candidates(dataDir, "tail", "--url=https://exam", "")).toEqual([]);
    expect(asked).toEqual([]);
    expect(await candidates(dataDir, "tail", "")).toEqual(["kitchen"]);
    const empty = scratch();
    expect(await candidates(empty, "tail", "")).toEqual([]);
    expect(readdirSync(empty)).toEqual([]);
  },
);

test("names are for who holds the key alone", slow, async () => {
  const gateway = await up(scratch());
  const ask = async (authorization?: string) =>
    (
      await fetch(`${gateway.url}/admin/names?of=room`, {
        headers: { ...(authorization && { authorization }) },
      })
    ).status;
  expect(await ask()).toBe(401);
  expect(await ask("Bearer wrong")).toBe(401);
  const { out: token } = await mcpx(["token", "--id", "ops", "--admin", "--data", gateway.dataDir]);
  expect(await ask(`Bearer ${token}`)).toBe(401);
  const { names } = JSON.parse(readFileSync(join(gateway.dataDir, "gateway.json"), "utf8"));
  expect(await ask(`Bearer ${names}`)).toBe(200);
});
