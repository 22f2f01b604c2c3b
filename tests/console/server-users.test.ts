// A server that each user signs in to: the person at the console signs in at its page, sees who has, and ends it.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openBrowser } from "../browser/page.ts";
import { scratch } from "../cli/support/mcpx-process.ts";
import { startAuthorizationServer } from "../tree/credentials/support/authorization-server.ts";
import { openCookieBrowser } from "../tree/credentials/support/cookie-browser.ts";
import { startNotesServer } from "../tree/credentials/support/notes-server.ts";
import { startGateway } from "./support/gateway.ts";
import { openScreen } from "./support/screen.ts";

test("users sign in to a server with accounts of their own, and are signed out at its page", {
  timeout: 90_000,
}, async () => {
  const issuer = await startAuthorizationServer();
  const notes = await startNotesServer(issuer, "modern");
  const browser = await openBrowser();
  onTestFinished(async () => {
    await browser.close();
    await notes.stop();
    await issuer.stop();
  });
  const home = scratch();
  mkdirSync(join(home, "data"), { mode: 0o700 });
  const config = join(home, "data", "mcpx.json");
  writeFileSync(config, JSON.stringify({ mcpServers: { notes: { url: notes.url } } }));
  const gateway = await startGateway([], { home });
  const { page, errors } = await openScreen(browser, gateway.link);
  // The tree is listed once the server was waited for in vain.
  await page.getByRole("navigation").getByRole("link", { name: "notes" }).click({ timeout: 30_000 });
  const box = page.getByRole("article").filter({ hasText: "notes" });
  await box.getByText("Needs authorisation: open").waitFor();
  await box.getByRole("button", { name: "Edit … notes" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Each user signs in to it with an account of their own (OAuth)").check();
  await dialog.getByRole("button", { name: "Look at the change" }).click();
  await dialog.getByText('"per": "user"').waitFor();
  await dialog.getByRole("button", { name: "Yes, write it" }).click();
  await box.getByText("Sign in with an account of yours: open").waitFor({ timeout: 20_000 });
  const address = (await box.getByRole("link", { name: /oauth\/start/ }).getAttribute("href")) ?? "";
  const alice = openCookieBrowser("alice");
  expect((await alice.press(await alice.open(address))).status).toBe(200);
  const signedIn = page.getByRole("region", { name: "Signed in to notes" });
  await signedIn.waitFor({ timeout: 20_000 });
  await signedIn.getByRole("button", { name: /^Sign out/ }).click();
  await signedIn.waitFor({ state: "detached" });
  await box.getByText("Sign in with an account of yours: open").waitFor({ timeout: 20_000 });
  expect(errors).toEqual([]);
});
