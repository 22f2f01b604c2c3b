// Broken and hostile files of every client: one clear line each, and nothing else is lost.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { ClientWorld } from "./client.ts";
import { clientsOf } from "./clients.ts";
import { findServers } from "./find-servers.ts";

function newWorld(): ClientWorld {
  const home = mkdtempSync(join(tmpdir(), "mcpx-cli-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return { env: {}, home, cwd: join(home, "project"), platform: "linux" };
}

function userFile(world: ClientWorld, id: string): string {
  const [client] = clientsOf([id]);
  const path = client?.files(world)[0]?.path ?? "";
  mkdirSync(dirname(path), { recursive: true });
  return path;
}

/** A sound file of another client, which must always be found. */
function withNeighbour(world: ClientWorld, id: string): void {
  const other = id === "cursor" ? "gemini" : "cursor";
  writeFileSync(userFile(world, other), '{"mcpServers":{"neighbour":{"command":"ok"}}}');
}

const jsonClients = ["claude-desktop", "claude-code", "cursor", "vscode", "gemini", "opencode"];

const brokenFiles: [what: string, content: string | Buffer, fault: RegExp][] = [
  ["is no JSON", "mcpServers: none", /:1:1 is not JSON: invalid symbol$/],
  ["ends too early", '{\n  "KEY": {\n', /:3:1 is not JSON: /],
  ["lacks a comma", '{\n  "a": 1\n  "b": 2\n}', /:3:3 is not JSON: comma expected$/],
  ["is a list", "[]", /:1:1 is not an object$/],
  ["is a text", '"x"', /:1:1 is not an object$/],
  ["is nested without end", `{"a":${"[".repeat(200_000)}`, /:1:\d+ is nested deeper than 100$/],
  ["is not UTF-8", Buffer.from('{"KEY":{}}', "utf16le").subarray(1), /is not JSON|is not UTF-8 text/],
  ["has bytes that are no text", Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), / is not UTF-8 text$/],
  ["is huge", `{"a":"${"x".repeat(17 * 1024 * 1024)}"}`, / is too large: \d+ bytes of at most 16777216$/],
  ["has a list of servers", '{"KEY": []}', /:1:2 (mcpServers|servers|mcp): expected an object with servers$/],
  ["has a text for servers", '{"KEY": "npx"}', /expected an object with servers$/],
];

test.each(jsonClients.flatMap((id) => brokenFiles.map((one) => [id, ...one] as const)))(
  "a file of %s that %s gives one line",
  (id, _, content, fault) => {
    const world = newWorld();
    withNeighbour(world, id);
    const key = { vscode: "servers", opencode: "mcp" }[id] ?? "mcpServers";
    const path = userFile(world, id);
    writeFileSync(path, typeof content === "string" ? content.replace("KEY", key) : content);
    const { servers, faults } = findServers(clientsOf([]), world);
    expect(faults).toEqual([expect.stringMatching(fault)]);
    expect(faults[0]?.startsWith(path)).toBe(true);
    expect(faults[0]).not.toContain("\n");
    expect(servers.map(({ name }) => name)).toEqual(["neighbour"]);
  },
);

test.each([
  ["is no TOML", "mcpServers: none", /:1:11 is not TOML: illegal character in key$/],
  ["has a table twice", "[mcp_servers.a]\ncommand='x'\n[mcp_servers.a]\n", /:3:\d+ is not TOML: /],
  [
    "quotes a secret where it breaks",
    '[mcp_servers.a]\nenv = { TOKEN = "hunter2" "x" }\n',
    /:2:\d+ is not TOML: /,
  ],
  ["is nested without end", `a = ${"[".repeat(100_000)}`, / is not TOML/],
  ["has a list of servers", "mcp_servers = []", /:1:1 mcp_servers: expected an object with servers$/],
  ["has servers that are texts", '\n[mcp_servers]\na = "npx"', /:2:1 a: expected an object$/],
  [
    "has a command that is a list",
    '#\n[mcp_servers.a]\ncommand = ["npx"]',
    /:2:1 a: command: expected a string; found a list/,
  ],
  [
    "has a date for a command",
    "[mcp_servers.a]\ncommand = 2026-01-01",
    /:1:1 a: command: expected a string; found an object$/,
  ],
  ["has a bad name", '[mcp_servers.__proto__]\ncommand = "x"', /:1:1 __proto__: cannot be a name$/],
])("a file of codex that %s gives one line", (_, content, fault) => {
  const world = newWorld();
  withNeighbour(world, "codex");
  const path = userFile(world, "codex");
  writeFileSync(path, content);
  const { servers, faults } = findServers(clientsOf([]), world);
  expect(faults).toEqual([expect.stringMatching(fault)]);
  expect(faults[0]).not.toMatch(/\n|hunter2/);
  expect(servers.map(({ name }) => name)).toEqual(["neighbour"]);
});

test.each([
  ["text", "npx", "expected an object"],
  ["nothing to start", {}, "has neither a command nor a url"],
  ["both", { command: "x", url: "http://x" }, "has a command and a url"],
  [
    "a list for a command",
    { command: ["npx", "x"] },
    "command: expected a string; found a list; put what follows the first into args",
  ],
  ["an empty command", { command: "" }, "command: expected a string; found an empty one"],
  ["a number for a command", { command: 5 }, "command: expected a string; found a number"],
  [
    "a NUL in a command",
    { command: "a\0b" },
    "command: expected a string; found a string with a NUL character",
  ],
  [
    "a text for args",
    { command: "x", args: "-y" },
    "args: expected a list of strings; found a string of 2 characters",
  ],
  [
    "a number in args",
    { command: "x", args: ["-p", 80] },
    "args: expected a list of strings; found a number in it",
  ],
  ["a list for env", { command: "x", env: ["A=1"] }, "env: expected an object; found a list"],
  [
    "an object in env",
    { command: "x", env: { TOKEN: { a: "hunter2" } } },
    'env: expected strings; found an object at "TOKEN"',
  ],
  ["no address", { url: "mcp.example.com" }, "url: is not an http or https address"],
  ["an address that runs", { url: "javascript:alert(1)" }, "url: is not an http or https address"],
  [
    "a password in the address",
    { url: "https://me:hunter2@x" },
    "url: has a name or password in it; put it into a header",
  ],
  [
    "a transport nobody has",
    { url: "http://x", type: "pigeon" },
    'type: "pigeon" is not a transport mcpx has',
  ],
])("a server that is %s is left out with a line", (_, server, fault) => {
  const world = newWorld();
  const path = userFile(world, "cursor");
  writeFileSync(path, JSON.stringify({ mcpServers: { bad: server, good: { command: "ok" } } }, null, 2));
  const { servers, faults } = findServers(clientsOf(["cursor"]), world);
  expect(faults).toEqual([expect.stringMatching(/^\S+\/mcp\.json:\d+:\d+ bad: /)]);
  expect(faults[0]?.replace(/^\S+ bad: /, "")).toBe(fault);
  expect(servers.map(({ name }) => name)).toEqual(["good"]);
});

test("names that belong to every object are only names", () => {
  const world = newWorld();
  const path = userFile(world, "cursor");
  writeFileSync(
    path,
    `{"mcpServers":{"__proto__":{"command":"evil"},"constructor":{"command":"c"},"hasOwnProperty":{"command":"h"},
      "env":{"command":"x","env":{"__proto__":"polluted"}}, "":{"command":"x"}}}`,
  );
  const { servers, faults } = findServers(clientsOf(["cursor"]), world);
  expect(servers.map(({ name }) => name)).toEqual(["constructor", "hasOwnProperty"]);
  expect(faults.map((fault) => fault.replace(/^\S+ /, ""))).toEqual([
    "__proto__: cannot be a name",
    'env: env: "__proto__" cannot be a name',
    ": cannot be a name",
  ]);
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});

test("what is no file of text is told as such, and never waited for", () => {
  const world = newWorld();
  const [loop, nowhere, pipe] = [
    userFile(world, "cursor"),
    userFile(world, "gemini"),
    userFile(world, "vscode"),
  ];
  symlinkSync(loop, loop);
  symlinkSync("/nonexistent/settings.json", nowhere);
  execFileSync("sh", ["-c", 'mkfifo "$0"', pipe]);
  mkdirSync(userFile(world, "codex"));
  writeFileSync(
    userFile(world, "claude-code"),
    '\ufeff// mine\n{ /* all */ "mcpServers": { "a": { "command": "x" }, }, }',
  );
  const { servers, faults } = findServers(clientsOf([]), world);
  expect(faults).toEqual([
    `${loop} cannot be read (its links lead in a circle)`,
    `${pipe} is not a file`,
    `${userFile(world, "codex")} is not a file`,
    `${nowhere} cannot be read (its link leads nowhere)`,
  ]);
  expect(servers.map(({ name }) => name)).toEqual(["a"]);
});

test("too many servers are cut off, not counted", () => {
  const world = newWorld();
  const many = Object.fromEntries(
    Array.from({ length: 1_500 }, (_, index) => [`s${index}`, { command: "x" }]),
  );
  writeFileSync(userFile(world, "cursor"), JSON.stringify({ mcpServers: many }));
  const { servers, faults } = findServers(clientsOf([]), world);
  expect(servers).toHaveLength(1_000);
  expect(faults).toEqual([expect.stringMatching(/more than 1000 servers; the rest was not looked at$/)]);
});
