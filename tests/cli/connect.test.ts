// `mcpx connect`: this gateway in other programs' files, and out of them again without a trace.
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { expect, test } from "vitest";
import { mcpxCommand, programPath } from "../support/programs.ts";
import { type ClientName, newHome, secret, userFiles } from "./support/client-homes.ts";
import { mcpx, start, up } from "./support/mcpx-process.ts";
import { openTerminal } from "./support/typed-terminal.ts";

const clients = Object.keys(userFiles) as ClientName[];

function claimsIn(text: string): Record<string, unknown> {
  const [, payload = ""] = /Bearer [\w-]+\.([\w-]+)\./.exec(text) ?? [];
  return JSON.parse(Buffer.from(payload, "base64url").toString());
}

const entries: Record<ClientName, RegExp> = {
  "claude-desktop": /"mcpx": \{\s+"command": "[^"]+",\s+"args": \[[^\]]*"stdio",[^\]]*"--data"/,
  "claude-code": /"mcpx": \{\s+"type": "http",\s+"url": "http:\/\/127\.0\.0\.1:6279\/mcp",\s+"headers"/,
  cursor: /"mcpx": \{\s+"url": "http:\/\/127\.0\.0\.1:6279\/mcp",\s+"headers"/,
  vscode: /"mcpx": \{\s+"type": "http",\s+"url": "http:\/\/127\.0\.0\.1:6279\/mcp",\s+"headers"/,
  codex: /\n\[mcp_servers\.mcpx\]\nurl = "http:\/\/127\.0\.0\.1:6279\/mcp"\nhttp_headers = \{ Authoriz/,
  opencode:
    /"mcpx": \{\s+"type": "remote",\s+"url": "http:\/\/127\.0\.0\.1:6279\/mcp",\s+"oauth": false,\s+"headers"/,
  gemini: /"mcpx": \{\s+"httpUrl": "http:\/\/127\.0\.0\.1:6279\/mcp",\s+"headers"/,
};

test.each(clients)("%s: connected, connected again, undone to the byte", async (client) => {
  const home = newHome();
  const options = { cwd: home.project, env: home.env };
  const path = home.path(client);
  const before = readFileSync(path);
  const first = await mcpx(["connect", client, "--yes"], options);
  expect(first.code).toBe(0);
  expect(first.out + first.err).not.toMatch(new RegExp(`eyJ|${secret}`));
  for (const line of first.out.split("\n")) expect(line.length).toBeLessThanOrEqual(100);
  const after = readFileSync(path, "utf8");
  expect(after).toMatch(entries[client]);
  if (client !== "claude-desktop") {
    const { iat, exp, ...claims } = claimsIn(after) as { iat: number; exp: number };
    expect(claims).toMatchObject({ sub: `client:${client}`, topics: [], tools: ["**"], kind: "agent" });
    expect(Math.round((exp - iat) / 86_400)).toBe(30);
  }
  const again = await mcpx(["connect", client], options);
  expect(again).toMatchObject({ code: 0, out: expect.stringContaining("is connected already, in ~/") });
  expect(readFileSync(path, "utf8")).toBe(after);

  const undone = await mcpx(["connect", client, "--undo", "--yes"], options);
  expect(undone.code).toBe(0);
  expect(undone.out + undone.err).not.toMatch(new RegExp(`eyJ|${secret}`));
  expect(readFileSync(path).equals(before)).toBe(true);
  expect(readdirSync(dirname(path)).filter((name) => name.endsWith(".bak"))).toEqual([]);
  const nothing = await mcpx(["connect", client, "--undo", "--yes"], options);
  expect(nothing).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^mcpx: there is nothing to undo: [^\n]*$/),
  });
});

test("a file that is not there is made only with consent, and gone after undo", async () => {
  const home = newHome([]);
  const options = { cwd: home.project, env: home.env };
  const path = home.path("vscode");
  const refused = await mcpx(["connect", "vscode"], options);
  expect(refused).toMatchObject({
    code: 1,
    err: "mcpx: nothing was written: there is no terminal to ask for confirmation; add --yes",
  });
  expect(existsSync(path)).toBe(false);
  const made = await mcpx(["connect", "vscode", "--yes", "--json"], options);
  expect(JSON.parse(made.out)).toMatchObject({ client: "vscode", file: path, changed: true, backup: null });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(Object.keys(JSON.parse(readFileSync(path, "utf8")))).toEqual(["servers"]);
  await mcpx(["connect", "vscode", "--undo", "--yes"], options);
  expect(existsSync(path)).toBe(false);
});

test("at a terminal it asks, and no is the default", async () => {
  const home = newHome(["cursor"]);
  const before = readFileSync(home.path("cursor"), "utf8");
  const program = ["python3", join(import.meta.dirname, "support", "terminal.py"), ...mcpxCommand] as const;
  const ask = async (answer: string) => {
    const command = start(["connect", "cursor", "--keep"], {
      cwd: home.project,
      env: home.env,
      isTyped: true,
      program,
    });
    await command.line(/Write it\? y or n/);
    command.type(answer);
    await command.ended;
    return readFileSync(home.path("cursor"), "utf8");
  };
  expect(await ask("")).toBe(before);
  expect(await ask("no")).toBe(before);
  expect(await ask("y")).toContain('"mcpx"');
});

test("what others wrote meanwhile stays: only our entry goes", async () => {
  const home = newHome(["claude-code", "codex"]);
  const options = { cwd: home.project, env: home.env };
  const files = [
    ["claude-code", (text: string) => text.replace('"numStartups": 42', '"numStartups": 43')],
    ["codex", (text: string) => text.replace("gpt-5.3", "gpt-5.4")],
  ] as const;
  for (const [client, change] of files) {
    const path = home.path(client);
    const before = readFileSync(path, "utf8");
    await mcpx(["connect", client, "--yes"], options);
    writeFileSync(path, change(readFileSync(path, "utf8")));
    const { out } = await mcpx(["connect", client, "--undo", "--yes", "--json"], options);
    expect(JSON.parse(out)).toMatchObject({ exact: false });
    expect(readFileSync(path, "utf8")).toBe(change(before));
  }
});

test("an entry of the same name by somebody else comes back", async () => {
  const home = newHome([]);
  const options = { cwd: home.project, env: home.env };
  const path = home.path("gemini");
  await mcpx(["connect", "gemini", "--yes"], options);
  await mcpx(["connect", "gemini", "--undo", "--yes"], options);
  const before = '{ "mcpServers": { "mcpx": { "command": "other" } } }';
  writeFileSync(path, before);
  await mcpx(["connect", "gemini", "--yes"], options);
  await mcpx(["connect", "gemini", "--yes", "--ttl", "1d", "--tools", "files.*"], options);
  expect(claimsIn(readFileSync(path, "utf8"))).toMatchObject({ tools: ["files.*"] });
  await mcpx(["connect", "gemini", "--undo", "--yes"], options);
  expect(readFileSync(path, "utf8")).toBe(before);
});

test("a link stays a link, and a broken file is left alone", async () => {
  const home = newHome(["cursor", "codex"]);
  const options = { cwd: home.project, env: home.env };
  const real = join(home.dir, "dotfiles.json");
  writeFileSync(real, "{}\n");
  symlinkSync(real, home.path("claude-code"));
  expect((await mcpx(["connect", "claude-code", "--yes"], options)).code).toBe(0);
  expect(JSON.parse(readFileSync(real, "utf8")).mcpServers.mcpx.type).toBe("http");
  for (const [client, text, fault] of [
    ["cursor", '{ "mcpServers": {', /mcp\.json:1:\d+ is not JSON: /],
    [
      "codex",
      "mcp_servers = { a = { command = 'x' } }",
      /cannot be edited safely, so it was left alone; [^\n]*--print/,
    ],
  ] as const) {
    writeFileSync(home.path(client), text);
    const { code, err } = await mcpx(["connect", client, "--yes"], options);
    expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(fault) });
    expect(readFileSync(home.path(client), "utf8")).toBe(text);
  }
});

test("the token counts at the running gateway until it is undone; a profile is part of the address", async () => {
  const home = newHome(["cursor"]);
  const dataDir = join(home.dir, "data");
  const options = { cwd: home.project, env: { ...home.env, MCPX_DATA: dataDir } };
  writeFileSync(join(home.project, "mcpx.json"), '{ "profiles": { "reading": { "tools": ["**"] } } }');
  await mcpx(["trust", "--yes"], options);
  const gateway = await up(dataDir, [], options);
  await mcpx(["connect", "cursor", "--profile", "reading", "--yes"], options);
  const text = readFileSync(home.path("cursor"), "utf8");
  expect(text).toContain(`"url": "${gateway.url}/mcp/reading"`);
  const { jti } = claimsIn(text);
  const list = async () => JSON.parse((await mcpx(["token", "list", "--json"], options)).out).tokens;
  expect(await list()).toContainEqual(
    expect.objectContaining({ jti, sub: "client:cursor", revokedAt: null }),
  );
  await mcpx(["connect", "cursor", "--undo", "--yes"], options);
  expect(await list()).toContainEqual(expect.objectContaining({ jti, revokedAt: expect.any(String) }));
  expect(await mcpx(["connect", "cursor", "--profile", "readin"], options)).toMatchObject({
    code: 1,
    err: 'mcpx: there is no profile "readin"; did you mean reading?',
  });
});

test("what is written there opens the tree, with names the client takes", async () => {
  const home = newHome(["cursor", "claude-desktop"]);
  const dataDir = join(home.dir, "data");
  const options = { cwd: home.project, env: { ...home.env, MCPX_DATA: dataDir } };
  const server = programPath("tests/cli/support/tiny-server.ts");
  await mcpx(["add", "tiny.one", "--", process.execPath, server], options);
  await up(dataDir, [], options);
  for (const client of ["cursor", "claude-desktop"]) await mcpx(["connect", client, "--yes"], options);

  const { url, headers } = JSON.parse(withoutComments(readFileSync(home.path("cursor"), "utf8"))).mcpServers
    .mcpx;
  const http = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  expect(await toolsOver(http)).toContain("tiny_one__params");

  const { command, args } = JSON.parse(readFileSync(home.path("claude-desktop"), "utf8")).mcpServers.mcpx;
  expect(await toolsOver(new StdioClientTransport({ command, args, env: home.env }))).toContain(
    "tiny_one__params",
  );
});

async function toolsOver(transport: Transport): Promise<string[]> {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  try {
    return (await client.listTools()).tools.map(({ name }) => name);
  } finally {
    await client.close();
  }
}

/** As the fixtures have them: at the end of a line, and a comma too many. */
function withoutComments(text: string): string {
  return text.replace(/ ?\/\/ .*$/gm, "").replace(/,(\s*[}\]])/g, "$1");
}

test("--print gives what to paste, and touches nothing", async () => {
  const home = newHome([]);
  const options = { cwd: home.project, env: home.env };
  const { out } = await mcpx(["connect", "vscode", "--print"], options);
  expect(JSON.parse(out).servers.mcpx.headers.Authorization).toMatch(/^Bearer eyJ/);
  expect((await mcpx(["connect", "codex", "--print"], options)).out).toMatch(
    /^\[mcp_servers\.mcpx\]\nurl = /,
  );
  expect(existsSync(home.path("vscode"))).toBe(false);
  expect(await mcpx(["connect", "claude-desktop", "--ttl", "1d"], options)).toMatchObject({
    code: 2,
    err: "mcpx: --ttl is for tokens, and Claude Desktop gets none; choose its tools with --profile NAME",
  });
});

/** Many commands, each a process of its own. */
const slow = { timeout: 240_000 };

test(
  "the servers a client has of its own move here, past no gate any more, and --undo brings everything back to the byte",
  slow,
  async () => {
    const home = newHome(["claude-desktop", "cursor"]);
    const options = { cwd: home.project, env: home.env };
    const path = home.path("claude-desktop");
    const config = join(home.dir, ".local/share/mcpx/mcpx.json");
    const before = readFileSync(path);
    // Without being told to, nothing moves, and it says what that means.
    const kept = await mcpx(["connect", "claude-desktop", "--yes"], options);
    expect(kept.out).toContain(
      "Claude Desktop has 2 servers of its own, which it starts past the gates of mcpx:",
    );
    expect(kept.err).toContain("Claude Desktop still starts filesystem, github by itself, past the gates");
    expect(readFileSync(path, "utf8")).toContain("server-filesystem");
    expect(existsSync(config)).toBe(false);

    const moved = await mcpx(["connect", "claude-desktop", "--move", "--yes"], options);
    expect(moved).toMatchObject({ code: 0, out: expect.stringContaining("moved here: filesystem, github") });
    expect(moved.out + moved.err).not.toContain(secret);
    const after = readFileSync(path, "utf8");
    expect(Object.keys(JSON.parse(after).mcpServers)).toEqual(["mcpx"]);
    expect(after).toContain('"globalShortcut": "Ctrl+Space"');
    expect(JSON.parse(readFileSync(config, "utf8")).mcpServers).toMatchObject({
      filesystem: { command: "npx" },
      github: { env: { GITHUB_PERSONAL_ACCESS_TOKEN: secret } },
    });
    expect(statSync(config).mode & 0o777).toBe(0o600);

    // Cursor has the same server still: that is a way around the gate, and doctor says so.
    const doctor = async () => (await mcpx(["doctor"], options)).out;
    const around = /Cursor starts filesystem by itself, past the gates before filesystem here/;
    const told = await doctor();
    expect(told).toMatch(around);
    expect(told).toContain("mcpx connect cursor --move");
    expect(told).not.toContain("Claude Desktop starts");
    expect((await mcpx(["connect", "cursor", "--move", "--yes"], options)).code).toBe(0);
    expect(await doctor()).not.toMatch(around);

    expect((await mcpx(["connect", "cursor", "--undo", "--yes"], options)).code).toBe(0);
    expect((await mcpx(["connect", "claude-desktop", "--undo", "--yes"], options)).code).toBe(0);
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(existsSync(config)).toBe(false);
    expect(readdirSync(dirname(config)).filter((name) => name.endsWith(".bak"))).toEqual([]);
  },
);

test(
  "where others wrote meanwhile, undo puts the moved servers back beside what they wrote",
  slow,
  async () => {
    const home = newHome(["claude-desktop"]);
    const options = { cwd: home.project, env: home.env };
    const path = home.path("claude-desktop");
    const servers = JSON.parse(readFileSync(path, "utf8")).mcpServers;
    await mcpx(["connect", "claude-desktop", "--move", "--yes"], options);
    writeFileSync(path, readFileSync(path, "utf8").replace("Ctrl+Space", "Ctrl+K"));
    const { out } = await mcpx(["connect", "claude-desktop", "--undo", "--yes", "--json"], options);
    expect(JSON.parse(out)).toMatchObject({ exact: false, restored: true });
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({ globalShortcut: "Ctrl+K", mcpServers: servers });
  },
);

test("what mcpx could not start as the client does stays there, with the reason", slow, async () => {
  const home = newHome(["codex", "gemini", "claude-code"]);
  const options = { cwd: home.project, env: home.env };
  const codex = await mcpx(["connect", "codex", "--move", "--yes"], options);
  expect(codex.out).toContain("context7: stays there, mcpx would need LOCAL_TOKEN in its environment");
  const gemini = await mcpx(["connect", "gemini", "--move", "--yes"], options);
  expect(gemini.out).toMatch(/hub: stays there, /);
  expect(gemini.out).toContain("moved here: old");
  const code = await mcpx(["connect", "claude-code", "--move", "--yes"], options);
  expect(code.out).toContain("db: stays there, it belongs to the project /home/me/shop");
  expect(code.out).toContain("moved here: sentry");
});

test("at a terminal it asks whether they shall move, and no is the default", slow, async () => {
  const home = newHome(["claude-desktop"]);
  const ask = async (answer: string) => {
    const terminal = openTerminal(["connect", "claude-desktop"], { cwd: home.project, env: home.env });
    await terminal.until(/Move them here, so that they are reached through the gates only\?/);
    terminal.press(`${answer}\r`);
    if (answer === "y" || !isConnectedIn(home.path("claude-desktop"))) {
      await terminal.until(/Write it\? y or n/);
      terminal.press("y\r");
    }
    expect(await terminal.ended).toBe(0);
    return Object.keys(JSON.parse(readFileSync(home.path("claude-desktop"), "utf8")).mcpServers);
  };
  const isConnectedIn = (path: string) => readFileSync(path, "utf8").includes('"mcpx"');
  expect(await ask("")).toEqual(["filesystem", "github", "mcpx"]);
  expect(await ask("y")).toEqual(["mcpx"]);
});
