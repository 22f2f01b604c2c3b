// `mcpx import`: what the clients of a machine know, into the tree.
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newHome, put, secret } from "./support/client-homes.ts";
import { mcpx, up } from "./support/mcpx-process.ts";
import { openTerminal } from "./support/typed-terminal.ts";

test("without --yes it only shows what it found, aligned, and no secret", async () => {
  const home = newHome();
  const { code, out, err } = await mcpx(["import"], { cwd: home.project, env: home.env });
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out.split("\n")).toEqual([
    "found 12 servers in 7 files",
    "",
    "  #  NAME        FROM               HOW    ENV OR HEADERS            COMMAND OR URL",
    "  1  filesystem  claude-desktop +1  stdio                            npx -y @modelcontextprotocol/server-filesystem /home/me/Documents",
    "  2  github      claude-desktop     stdio  GITHUB_PERSONAL_ACCESS_…  npx -y @modelcontextprotocol/server-github",
    "  3  sentry      claude-code        http                             https://mcp.sentry.dev/mcp",
    "  4  db          claude-code shop/  stdio                            ./db-server --password •••",
    "  5  github-2    cursor             http   Authorization             https://api.githubcopilot.com/mcp/",
    "  6  perplexity  vscode             stdio  PERPLEXITY_API_KEY        npx -y server-perplexity-ask",
    "  7  context7    codex              stdio  MODE LOCAL_TOKEN          npx -y @upstash/context7-mcp",
    "  8  figma       codex              http   X-Figma-Region Authoriz…  https://mcp.figma.com/mcp",
    "  9  hub         gemini             http   Authorization             https://hub.example.com/mcp",
    " 10  old         gemini             sse                              https://old.example.com/sse",
    " 11  jira        opencode           http   Authorization             https://jira.example.com/mcp",
    " 12  notes       opencode           stdio  NOTES                     npx -y server-notes",
    "",
    "  1  the same at cursor",
    "  5  github is taken by github of claude-desktop: this one becomes github-2",
    "  5  needs GH_TOKEN in the environment of mcpx up",
    "  6  needs PERPLEXITY_API_KEY in the environment of mcpx up",
    "  7  needs LOCAL_TOKEN in the environment of mcpx up",
    "  8  is disabled there, and stays disabled",
    "  8  needs FIGMA_OAUTH_TOKEN in the environment of mcpx up",
    "  9  needs HUB_TOKEN in the environment of mcpx up",
    "  9  not imported: excludeTools",
    " 11  is disabled there, and stays disabled",
    " 11  needs JIRA_TOKEN in the environment of mcpx up",
    "",
    "Nothing was written; --yes writes all of them.",
  ]);
  expect(existsSync(join(home.dir, ".local"))).toBe(false);
});

test("--yes writes all of them as they were, secrets readable by their owner alone", async () => {
  const home = newHome();
  const { code, out, err } = await mcpx(["import", "--yes"], { cwd: home.project, env: home.env });
  expect(code).toBe(0);
  expect(out + err).not.toMatch(new RegExp(`${secret}|hunter2`));
  expect(out).toContain("wrote 12 servers to ~/.local/share/mcpx/mcpx.json");
  expect(err).toContain("secrets are in that file as they were: only you may read it (mode 0600)");
  const path = join(home.dir, ".local", "share", "mcpx", "mcpx.json");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(path, "utf8")).mcpServers).toEqual({
    filesystem: {
      command: "npx",
      args: ["-y", "@modelcontextprotocol/server-filesystem", "/home/me/Documents"],
    },
    github: {
      command: "npx",
      args: ["-y", "@modelcontextprotocol/server-github"],
      env: { GITHUB_PERSONAL_ACCESS_TOKEN: secret },
    },
    sentry: { url: "https://mcp.sentry.dev/mcp", type: "http" },
    db: { command: "./db-server", args: ["--password", "hunter2"], cwd: "/home/me/shop" },
    "github-2": {
      url: "https://api.githubcopilot.com/mcp/",
      headers: { Authorization: `Bearer \${env:GH_TOKEN}` },
    },
    perplexity: {
      command: "npx",
      args: ["-y", "server-perplexity-ask"],
      env: { PERPLEXITY_API_KEY: `\${env:PERPLEXITY_API_KEY}` },
    },
    context7: {
      command: "npx",
      args: ["-y", "@upstash/context7-mcp"],
      env: { MODE: "fast", LOCAL_TOKEN: `\${env:LOCAL_TOKEN}` },
      timeout: "45s",
    },
    figma: {
      url: "https://mcp.figma.com/mcp",
      headers: { "X-Figma-Region": "us-east-1", Authorization: `Bearer \${env:FIGMA_OAUTH_TOKEN}` },
      disabled: true,
    },
    hub: {
      url: "https://hub.example.com/mcp",
      type: "http",
      headers: { Authorization: `\${env:HUB_TOKEN}` },
      timeout: "5s",
    },
    old: { url: "https://old.example.com/sse", type: "sse" },
    jira: {
      url: "https://jira.example.com/mcp",
      headers: { Authorization: `Bearer \${env:JIRA_TOKEN}` },
      disabled: true,
    },
    notes: {
      command: "npx",
      args: ["-y", "server-notes"],
      env: { NOTES: "/home/me/notes" },
      timeout: "20s",
    },
  });

  const again = await mcpx(["import", "--yes"], { cwd: home.project, env: home.env });
  expect(again.out).toContain("found no server that is not here already in 7 files");
  expect(again.out).toContain("  -  filesystem  claude-desktop     is here already, as filesystem");
});

test("a project's own files are found in it, and their servers run there", async () => {
  const home = newHome([]);
  const at = (file: string) => join(home.project, file);
  const api = {
    type: "http",
    url: `\${API_BASE:-https://api.example.com}/mcp`,
    headers: { "X-Key": `\${API_KEY}` },
  };
  put(at(".mcp.json"), JSON.stringify({ mcpServers: { api } }));
  const play = {
    command: "node",
    args: [`\${workspaceFolder}/play.js`],
    envFile: `\${workspaceFolder}/.env`,
  };
  put(at(".vscode/mcp.json"), JSON.stringify({ servers: { play } }));
  put(
    at(".cursor/mcp.json"),
    JSON.stringify({ mcpServers: { home: { command: `\${userHome}/x`, cwd: "sub" } } }),
  );
  put(at(".codex/config.toml"), '[mcp_servers.c]\ncommand = "c"\n');
  put(
    at(".gemini/settings.json"),
    JSON.stringify({ mcpServers: { g: { command: "g" } }, mcp: { excluded: ["g"] } }),
  );
  put(
    home.path("vscode"),
    JSON.stringify({ servers: { lost: { command: "node", args: [`\${workspaceFolder}/x`] } } }),
  );
  const options = { cwd: home.project, env: home.env };
  // The control: whoever made the directory has written these files, so that a yes to all does not mean them.
  const careful = await mcpx(["import", "--yes"], options);
  expect(careful.err).toContain("lie in the working directory: api, home, play, c, g");
  expect(existsSync(join(home.dir, ".local/share/mcpx/mcpx.json"))).toBe(false);
  const { code, out, err } = await mcpx(["import", "--yes", "--project", "--json"], options);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  const { servers, faults, file } = JSON.parse(out);
  expect(faults).toEqual([
    `${home.path("vscode")}:1:38 lost: args: uses \${workspaceFolder}, which only the editor knows`,
  ]);
  expect(servers).toHaveLength(5);
  expect(servers[0]).toMatchObject({
    name: "api",
    client: "claude-code",
    project: home.project,
    needs: ["API_KEY"],
    written: true,
  });
  expect(JSON.parse(readFileSync(file, "utf8")).mcpServers).toEqual({
    api: { url: "https://api.example.com/mcp", type: "http", headers: { "X-Key": `\${env:API_KEY}` } },
    home: { command: `${home.dir}/x`, cwd: join(home.project, "sub") },
    play: { command: "node", args: [`${home.project}/play.js`], cwd: home.project },
    c: { command: "c", cwd: home.project },
    g: { command: "g", cwd: home.project, disabled: true },
  });
});

test("at a terminal the choice is by numbers, and of each one question is asked: is it to be believed?", async () => {
  const home = newHome(["cursor", "gemini"]);
  const path = join(home.dir, ".local", "share", "mcpx", "mcpx.json");
  const servers = () => JSON.parse(readFileSync(path, "utf8")).mcpServers;
  const terminal = openTerminal(["import"], { cwd: home.project, env: home.env });
  await terminal.until(/Import which\?/);
  terminal.press("1 4\r");
  await terminal.until(
    /Trust what github says of its tools\?[\s\S]*\n {2}y: [\s\S]*are believed[\s\S]*\n {2}n: [^\n]*\n/,
  );
  terminal.press("y\r");
  await terminal.until(/Trust what old says of its tools\?[\s\S]*\n {2}n: [^\n]*\n/);
  terminal.press("\r");
  await terminal.until(/trusted: github\r/);
  expect(await terminal.ended).toBe(0);
  expect(Object.keys(servers())).toEqual(["github", "old"]);
  expect(servers()).toMatchObject({ github: { trusted: true } });
  expect(servers().old.trusted).toBeUndefined();
  const none = openTerminal(["import"], { cwd: home.project, env: home.env });
  await none.until(/Import which\?/);
  none.press("99\r");
  await none.until(/"99" is not a choice\. Write numbers from 1 to \d+, all, or Enter for none/);
  none.press("\r");
  await none.until(/Nothing was written\./);
  // One by one it is the same question; whoever has said it is not asked.
  const adding = openTerminal(["add", "notes", "https://notes.example.com/mcp"], {
    cwd: home.project,
    env: home.env,
  });
  await adding.until(/Trust what notes says of its tools\?[\s\S]*\n {2}n: [^\n]*\n/);
  adding.press("y\r");
  expect(await adding.ended).toBe(0);
  expect(servers().notes.trusted).toBe(true);
  const told = openTerminal(["add", "more", "https://more.example.com/mcp", "--unannotated", "ask"], {
    cwd: home.project,
    env: home.env,
  });
  expect(await told.ended).toBe(0);
  expect(told.shown()).not.toContain("Trust what");
});

test("only the named clients are looked at, and no client is said with where it was looked for", async () => {
  const home = newHome();
  const one = await mcpx(["import", "codex", "--json"], { cwd: home.project, env: home.env });
  expect(JSON.parse(one.out).servers.map(({ client }: { client: string }) => client)).toEqual([
    "codex",
    "codex",
  ]);
  const nobody = newHome([]);
  const { code, out } = await mcpx(["import"], { cwd: nobody.project, env: nobody.env });
  expect(code).toBe(0);
  expect(out.split("\n").slice(0, 2)).toEqual([
    "found no server in 0 files; add one with npx mcpx add NAME -- COMMAND. Looked for",
    "    ~/.config/Claude/claude_desktop_config.json",
  ]);
  expect(await mcpx(["import", "curser"], { env: home.env })).toEqual({
    code: 2,
    out: "",
    err: 'mcpx: there is no client "curser"; did you mean cursor?',
  });
});

test("broken files of every client are a line each, and what is sound comes in and starts", async () => {
  const home = newHome();
  for (const client of ["claude-desktop", "claude-code", "vscode", "gemini", "opencode"] as const)
    writeFileSync(home.path(client), "{,");
  writeFileSync(home.path("codex"), "=");
  put(
    home.path("cursor"),
    '{"mcpServers": {"ok": {"command": "true"}, "bad": {"command": ["a"]}, "\\u001b[2J": 1}}',
  );
  const { code, out, err } = await mcpx(["import", "--yes"], { cwd: home.project, env: home.env });
  expect(code).toBe(0);
  const faults = err.split("\n").filter((line) => line.startsWith("mcpx: /"));
  expect(faults).toHaveLength(8);
  expect(err).not.toContain("\u001b");
  expect(out).toContain("wrote 1 server to");
  await up(join(home.dir, ".local", "share", "mcpx"), [], { env: home.env });
});

test("a file that is broken is not marked as read", async () => {
  const home = newHome(["cursor"]);
  writeFileSync(home.path("cursor"), "{,");
  const broken = await mcpx(["import", "cursor"], { cwd: home.project, env: home.env });
  expect(broken.out).toMatch(/^ {2}✗ .*\.cursor\/mcp\.json$/m);
  expect(broken.out).not.toContain("✓");
  writeFileSync(home.path("cursor"), "{}");
  const empty = await mcpx(["import", "cursor"], { cwd: home.project, env: home.env });
  expect(empty.out).toMatch(/^ {2}✓ .*\.cursor\/mcp\.json$/m);
});

test("--unannotated is kept for each server, and what is neither ask nor allow is refused", async () => {
  const home = newHome(["cursor"]);
  const options = { cwd: home.project, env: home.env };
  const path = join(home.dir, ".local", "share", "mcpx", "mcpx.json");
  const kept = () => {
    const { mcpServers } = JSON.parse(readFileSync(path, "utf8"));
    return Object.entries(mcpServers as Record<string, { unannotated?: string }>).map(
      ([name, { unannotated }]) => [name, unannotated],
    );
  };
  const refused = await mcpx(["import", "--yes", "--unannotated", "maybe"], options);
  expect(refused).toMatchObject({
    code: 2,
    err: 'mcpx: invalid value "maybe" for --unannotated; expected ask or allow',
  });
  expect(existsSync(path)).toBe(false);
  const { out } = await mcpx(["import", "--yes", "--unannotated", "allow"], options);
  expect(out).toContain("tools without a trusted annotation need no approval");
  await mcpx(["add", "notes", "https://notes.example.com/mcp", "--unannotated", "ask"], options);
  await mcpx(["add", "plain", "https://plain.example.com/mcp"], options);
  expect(kept()).toEqual([
    ["github", "allow"],
    ["filesystem", "allow"],
    ["notes", "ask"],
    ["plain", undefined],
  ]);
  writeFileSync(path, readFileSync(path, "utf8").replace('"unannotated": "ask"', '"unannotated": "deny"'));
  const wrong = await mcpx(["up", "--port", "0"], options);
  expect(wrong.err).toContain("mcpServers.notes.unannotated");
});
