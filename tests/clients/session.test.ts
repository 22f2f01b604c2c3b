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

const isWritten = process.env.MCPX_WRITE_CLIENTS === "1";
const recordings = join(import.meta.dirname, "..", "..", "docs", "recordings");
const shred = { tool: "mcp__mcpx__papers__shred", args: { paper: "contract-2019" } };
const viewport = { width: 960, height: 560 };
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
  const { page, context } = await openScreen(browser, `${origin}${await loginPath(server)}`, { viewport });
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
  const permissions = { allow: ["mcp__mcpx"] };
  writeFileSync(
    join(home, ".claude", "settings.json"),
    JSON.stringify({ permissions, prefersReducedMotion: true }),
  );
}

test("[B-CLIENT-1] Claude Code waits in its terminal until Anna has approved at the console", {
  timeout: 300_000,
}, async () => {
  const home = scratch();
  const office = join(home, "office");
  mkdirSync(office);
  const [page, token] = await Promise.all([
    anna(),
    server.token({ sub: "claude", topics: [], tools: ["**"] }, 3_600_000),
  ]);
  const { model, close } = await openAssistant(claudeCode, dir, home, { url: `${server.url}/mcp`, token });
  onTestFinished(close);
  beAtHome(home, office);
  model.last = "Yes. What shall I do?";
  model.next = ({ text }) => adviceIn(text);
  const path = `${join(dir, "node_modules", ".bin")}:${process.env.PATH}`;
  const terminal = await openRecordedTerminal({ PATH: path, HOME: home, ...claudeCode.env(model) }, office);
  onTestFinished(() => terminal.close());
  const shows = (text: string) => expect.poll(terminal.screen, { timeout: 60_000 }).toContain(text);

  terminal.type("claude");
  await shows("❯");
  // A model that is asked before its program has listed the tools has none.
  const isReady = () => {
    if (model.tools.includes(shred.tool)) return true;
    terminal.type("Are you there?");
    return false;
  };
  await expect.poll(isReady, { timeout: 60_000, interval: 4_000 }).toBe(true);
  model.plan = shred;
  model.last = "The contract of 2019 is shredded. Anna has approved it.";
  terminal.type("Shred the contract of 2019, please.");
  // It shows where to decide, and somebody else will.
  await shows("papers__shred waits for a human's approval");
  terminal.press("Right");
  await shows("❯ I'm done, continue");
  // What is pressed as soon as it shows is not taken for an answer.
  const isAsked = () => {
    const isThere = terminal.screen().includes("wants to open a URL");
    if (isThere) terminal.press("Enter");
    return isThere;
  };
  await expect.poll(isAsked, { timeout: 30_000, interval: 1_000 }).toBe(false);
  // Held for a while, then its model is told that nothing has happened yet, and waits on as it is advised to.
  await expect.poll(() => model.told?.text, { timeout: 60_000 }).toContain("confirmation_required");
  expect(model.told?.isError).toBe(false);
  await openCard(page, "papers.shred");
  terminal.mark("Anna approves at the console");
  await page.getByRole("button", { name: "Approve …" }).click();
  if (isWritten) await page.screenshot({ path: join(recordings, "claude-code-console.png") });
  await page.getByRole("button", { name: "Yes, approve with passkey" }).click();
  await page.getByText("Approved by anna. The call was made once, and is done.").waitFor();
  await shows(model.last);
  expect(model.told?.text).toContain("contract-2019 is shredded");
  await terminal.settled();
  if (isWritten) writeFileSync(join(recordings, "claude-code.cast"), terminal.cast());
});

/** The call it is advised to make, where it is told to wait. */
function adviceIn(text: string) {
  const found = /call the tool (\S+) with (\{[^}]*\})/.exec(text.replaceAll(/\\+"/g, '"'));
  if (found === null) return undefined;
  return { tool: `mcp__mcpx__${found[1]}`, args: JSON.parse(found[2] ?? "") };
}
