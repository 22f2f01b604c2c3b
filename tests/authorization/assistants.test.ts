// Assistants that are too large to be installed with us (`npm run soak -- tests/authorization`): they get the address,
// and their own command to log in.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser } from "../browser/page.ts";
import { installClients } from "../clients/support/installed.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";
import { newPerson, type Person } from "./support/person.ts";

const run = promisify(execFile);
let server: TestServer;
let browser: Browser;
let person: Person;
let dir: string;
let home: string;

beforeAll(async () => {
  dir = installClients(["@anthropic-ai/claude-code", "@openai/codex"]);
  home = mkdtempSync(join(tmpdir(), "mcpx-assistants-"));
  mkdirSync(join(home, ".codex"));
  // No internet here: they register instead of being described by their makers.
  server = await startTestServer({ authorization: { clientDocuments: false } });
  browser = await openBrowser();
  person = await newPerson(browser, server);
}, 300_000);

afterAll(async () => {
  await browser.close();
  await server.stop();
  rmSync(home, { recursive: true, force: true });
});

const assistants = [
  {
    program: "codex",
    name: "Codex",
    // It begins to log in as soon as it has the address.
    before: undefined,
    logIn: (url: string) => ["mcp", "add", "mcpx", "--url", url],
    says: /mcpx.*OAuth/,
  },
  {
    program: "claude",
    name: "Claude Code",
    before: (url: string) => ["mcp", "add", "--transport", "http", "mcpx", url],
    logIn: () => ["mcp", "login", "mcpx"],
    says: /mcpx.*Connected/,
  },
] as const;

test.for(assistants)(
  "[B-AUTHZ-1] $program logs in with the address alone",
  { timeout: 120_000 },
  async ({ program, name, before, logIn, says }) => {
    const path = join(dir, "node_modules/.bin", program);
    const env = { PATH: process.env.PATH, HOME: home, BROWSER: "true", DISABLE_AUTOUPDATER: "1" };
    const world = { env, cwd: home };
    const url = `${server.url.replace("127.0.0.1", "localhost")}/mcp`;
    if (before !== undefined) await run(path, before(url), world);
    // They want a terminal.
    const line = [path, ...logIn(url)].join(" ");
    const asking = spawn("script", ["-qec", line, "/dev/null"], {
      ...world,
      stdio: ["pipe", "pipe", "pipe"],
    });
    try {
      const asked = collect(asking);
      const ended = once(asking, "exit");
      await expect.poll(() => addressIn(asked()), { timeout: 30_000 }).toBeDefined();
      await person.allow(addressIn(asked()), name);
      const [code] = await ended;
      expect([code, asked()]).toEqual([0, expect.any(String)]);
      const { stdout } = await run(path, ["mcp", "list"], world);
      expect(stdout).toMatch(says);
      const { body } = await server.call("GET", "/admin/consents", await server.adminToken());
      expect(JSON.stringify(body)).toContain(name);
    } finally {
      asking.kill();
    }
  },
);

/** Terminals are told more between the letters of an address than a person sees. */
function addressIn(text: string): string | undefined {
  return /https?:\/\/[^/\s]+\/oauth\/authorize\?[\w.~%&=+-]+/.exec(text)?.[0];
}

function collect(child: ReturnType<typeof spawn>): () => string {
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => (text += chunk));
  return () => text;
}
