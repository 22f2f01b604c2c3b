// A terminal session of Claude Code, as npm has it, with a scripted model: it calls what cannot be undone, waits, and a
// person approves at the console, with a passkey in a real browser. `MCPX_WRITE_CLIENTS=1` records it for docs/recordings.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { openBrowser } from "../browser/page.ts";
import { plugIn } from "../browser/support/authenticator.ts";
import { scratch } from "../cli/support/mcpx-process.ts";
import { openCard, openScreen } from "../console/support/screen.ts";
import { loginPath } from "../console/support/visitor.ts";
import { programArgs } from "../support/programs.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";
import { claudeCode, openAssistant } from "./drivers/assistants.ts";
import { installClients } from "./support/installed.ts";
import { openRecordedTerminal } from "./support/recorded-terminal.ts";

const recordings = join(import.meta.dirname, "..", "..", "docs", "recordings");
let dir = "";
let server: TestServer;

beforeAll(async () => {
  dir = installClients([claudeCode.package]);
  const desk = [...programArgs("tests/clients/support/desk-server.ts"), "/dev/null"];
  server = await startTestServer({
    config: { mcpServers: { papers: { command: process.execPath, args: desk, trusted: true } }, gates: {} },
  });
}, 900_000);

afterAll(() => server?.stop());

/** Anna at the console, with a passkey that approves. */
async function anna() {
  const browser = await openBrowser();
  onTestFinished(() => browser.close());
  const origin = server.url.replace("127.0.0.1", "localhost");
  const { page, context } = await openScreen(browser, `${origin}${await loginPath(server)}`);
  await plugIn(context, page);
  const { body } = await server.callHere("POST", "/admin/approvers/enrolments", { name: "anna" });
  await page.goto(`${origin}${new URL(String(body.url)).pathname}`);
  await page.getByRole("button", { name: "Register a passkey" }).click();
  await page.getByText("Done. anna can approve").waitFor();
  await page.goto(origin);
  return page;
}

/** Answered before: whether this folder and this key are to be used, and whether the server may be called. */
function beAtHome(home: string, folder: string): void {
  const path = join(home, claudeCode.file);
  const settings = JSON.parse(readFileSync(path, "utf8"));
  const projects = { [folder]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } };
  const customApiKeyResponses = { approved: ["none"], rejected: [] };
  writeFileSync(path, JSON.stringify({ ...settings, theme: "dark", projects, customApiKeyResponses }));
  mkdirSync(join(home, ".claude"));
  const permissions = { allow: ["mcp__mcpx"], defaultMode: "acceptEdits" };
  writeFileSync(
    join(home, ".claude", "settings.json"),
    JSON.stringify({ permissions, prefersReducedMotion: true }),
  );
}

test("[B-CLIENT-1] Claude Code waits in its terminal until Anna has approved at the console", {
  timeout: 300_000,
}, async () => {
  const home = scratch();
  const page = await anna();
  const token = await server.token({ sub: "claude", topics: [], tools: ["**"] });
  const { model, close } = await openAssistant(claudeCode, dir, home, { url: `${server.url}/mcp`, token });
  onTestFinished(close);
  const office = join(home, "office");
  mkdirSync(office);
  beAtHome(home, office);
  const terminal = await openRecordedTerminal(
    {
      PATH: `${join(dir, "node_modules", ".bin")}:${process.env.PATH}`,
      HOME: home,
      BROWSER: "true",
      ...claudeCode.env(model),
    },
    office,
  );
  onTestFinished(() => terminal.close());
  model.plan = { tool: "mcp__mcpx__papers__shred", args: { paper: "contract-2019" } };
  model.next = ({ text }) => adviceIn(text);
  terminal.type("claude");
  const shows = (text: string) => expect.poll(() => terminal.screen(), { timeout: 60_000 }).toContain(text);
  await shows("❯ ");
  await new Promise((r) => setTimeout(r, 4000));
  console.log(server.logged.map((l) => JSON.parse(l).msg).join("\n"));
  terminal.type("Shred the contract of 2019, please.");
  await shows("wants to open a URL");
  terminal.press("Enter");
  for (let i = 0; i < 4; i += 1) {
    await new Promise((r) => setTimeout(r, 3000));
    console.log(terminal.screen());
  }
  await openCard(page, "papers.shred");
  await page.getByRole("button", { name: "Approve …" }).click();
  await page.getByRole("button", { name: "Yes, approve with passkey" }).click();
  for (let i = 0; i < 4; i += 1) {
    await new Promise((r) => setTimeout(r, 3000));
    console.log(terminal.screen());
  }
  console.log(model.told);
  await page.getByText("Approved by anna. The call was made once, and is done.").waitFor();
});

/** The call it is advised to make, where it is told to wait. */
function adviceIn(text: string) {
  const found = /call the tool (\S+) with (\{[^}]*\})/.exec(text.replaceAll(/\\+"/g, '"'));
  if (found === null) return undefined;
  return { tool: `mcp__mcpx__${found[1]}`, args: JSON.parse(found[2] ?? "") };
}
