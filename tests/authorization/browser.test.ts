// Unmodified clients that get nothing but the address sign in through a real Chromium: the person logs in with a
// passkey, sees who asks, chooses, and takes it back.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser } from "../browser/page.ts";
import { axeFaults } from "../console/support/axe.ts";
import { openScreen } from "../console/support/screen.ts";
import { loginPath } from "../console/support/visitor.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";
import { newClient } from "./support/oauth-client.ts";
import { newPerson, type Person } from "./support/person.ts";
import { type Callback, type Memory, openCallback, providerFor, sdkClient } from "./support/sdk-clients.ts";

let server: TestServer;
let browser: Browser;
let page: Person["page"];
let errors: string[];
let allow: Person["allow"];
let picture: Person["picture"];
let callback: Callback;
let origin: string;
const slow = { timeout: 60_000 };

beforeAll(async () => {
  server = await startTestServer({ config: { profiles: { look: { tools: ["mcpax.status"] } } } });
  origin = server.url.replace("127.0.0.1", "localhost");
  callback = await openCallback();
  browser = await openBrowser();
  ({ page, errors, allow, picture } = await newPerson(browser, server));
}, 60_000);

afterAll(async () => {
  await browser.close();
  await callback.close();
  await server.stop();
});

test(
  "[B-AUTHZ-1] the SDK's clients sign in with a passkey, and are out when it is taken back",
  slow,
  async () => {
    for (const kind of ["v1", "v2"] as const) {
      const memory: Memory = {};
      const client = sdkClient(kind, `${origin}/mcp`, providerFor(callback.url, memory, `Program ${kind}`));
      await expect(client.connect()).rejects.toThrow(/unauthori/i);
      await allow(memory.asked, `Program ${kind}`, async () => {
        await page.getByText("nobody: the name is its own word").waitFor();
        await page.getByText(`a program on this computer, at ${new URL(callback.url).host}`).waitFor();
        await page.getByLabel("Tools of the tree").selectOption("profile look");
      });
      const params = await callback.next();
      expect(params.get("iss")).toBe(origin);
      await client.finish(params);
      await client.connect();
      expect(await client.tools()).toEqual([expect.stringMatching(/status/)]);
      const { body } = await server.call("GET", "/admin/consents", await server.adminToken());
      const [consent] = (body as { consents: object[] }).consents;
      expect(consent).toMatchObject({ clientName: `Program ${kind}`, tools: ["mcpax.status"] });
      await page.goto(`${origin}/console/tokens`);
      const programs = page.getByRole("region", { name: "Programs allowed through the browser" });
      await programs.getByText(`Program ${kind}`).first().waitFor();
      await picture("tokens");
      await programs.getByRole("button", { name: `Revoke Program ${kind}` }).click();
      await programs.getByText("None.").waitFor();
      await expect(client.tools()).rejects.toThrow();
      await client.close();
    }
    // What a refused request is told, the browser repeats; nothing else went wrong.
    expect(errors.filter((text) => !text.includes("status of 401"))).toEqual([]);
  },
);

test("logged in by a link in another tab, a person says no: the program gets nothing", slow, async () => {
  const memory: Memory = {};
  const client = sdkClient("v2", `${origin}/mcp`, providerFor(callback.url, memory, "Unwanted"));
  await expect(client.connect()).rejects.toThrow(/unauthori/i);
  const other = await openScreen(browser, String(memory.asked), { bypassCSP: true });
  await other.page.getByText("mcpx console --open").waitFor();
  expect(await axeFaults(other.page)).toEqual([]);
  const tab = await other.context.newPage();
  await tab.goto(`${origin}${await loginPath(server)}`);
  await other.page.getByRole("heading", { name: "Unwanted" }).waitFor();
  expect(await axeFaults(other.page)).toEqual([]);
  await other.page.getByRole("button", { name: "No" }).click();
  expect((await callback.next()).get("error")).toBe("access_denied");
  await other.context.close();
});

test("[B-AUTHZ-1] mcp-remote signs in with the address alone", slow, async () => {
  const home = mkdtempSync(join(tmpdir(), "mcpx-remote-"));
  const child = spawn("mcp-remote", [`${origin}/mcp`], {
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...process.env, MCP_REMOTE_CONFIG_DIR: home, HOME: home, BROWSER: "true" },
  });
  try {
    let said = "";
    let answered = "";
    child.stderr.on("data", (chunk) => (said += chunk));
    child.stdout.on("data", (chunk) => (answered += chunk));
    const address = () => /https?:\/\/\S+\/oauth\/authorize\?\S+/.exec(said)?.[0];
    await expect.poll(address, { timeout: 20_000 }).toBeDefined();
    await allow(new URL(String(address())), "MCP CLI Proxy");
    await expect.poll(() => said, { timeout: 20_000 }).toContain("Proxy established");
    const params = {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "t", version: "1" },
    };
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`);
    await expect.poll(() => answered).toContain('"serverInfo"');
  } finally {
    child.kill();
    rmSync(home, { recursive: true, force: true });
  }
});

test("[B-AUTHZ-1] the conformance suite's scenarios for authorization servers pass", slow, async () => {
  const redirect = "http://127.0.0.1:3000/callback";
  const { client_id: id } = await newClient(server, {
    client_name: "Conformance",
    redirect_uris: [redirect],
  });
  const port = await freePort();
  const words = ["authorization", "--url", origin, "--client-id", id, "--resource", `${origin}/mcp`];
  const child = spawn("conformance", [...words, "--port", String(port)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  try {
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (said += chunk));
    const ended = once(child, "exit");
    const address = () => /https?:\/\/\S+\/oauth\/authorize\?\S+/.exec(said)?.[0];
    await expect.poll(address, { timeout: 20_000 }).toBeDefined();
    await allow(new URL(String(address())), "Conformance");
    const [code] = await ended;
    expect([code, said]).toEqual([0, expect.stringMatching(/authorization-code-grant[\s\S]*0 failed/)]);
  } finally {
    child.kill();
  }
});

async function freePort(): Promise<number> {
  const listener = createServer().listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { port } = listener.address() as AddressInfo;
  listener.close();
  return port;
}
