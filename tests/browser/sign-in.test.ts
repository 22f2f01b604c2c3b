// Where users sign in to servers themselves, in a real browser: its cookies, its policy of content, its forms.
import type { Browser, BrowserContext } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../support/test-server.ts";
import {
  type AuthorizationServer,
  startAuthorizationServer,
} from "../tree/credentials/support/authorization-server.ts";
import { type NotesServer, startNotesServer } from "../tree/credentials/support/notes-server.ts";
import { connectUrlCaller, type UrlCaller } from "../tree/support/url-callers.ts";
import { openBrowser } from "./page.ts";

let issuer: AuthorizationServer;
let notes: NotesServer;
let server: TestServer;
let browser: Browser;
const callers: UrlCaller[] = [];
const slow = { timeout: 60_000 };

beforeAll(async () => {
  issuer = await startAuthorizationServer();
  notes = await startNotesServer(issuer, "modern");
  server = await startTestServer({
    config: { mcpServers: { notes: { url: notes.url, oauth: { per: "user" } } } },
  });
  browser = await openBrowser();
}, 60_000);

afterAll(async () => {
  for (const caller of callers) await caller.close();
  await browser.close();
  await server.stop();
  await notes.stop();
  await issuer.stop();
});

async function caller(user: string): Promise<UrlCaller> {
  const token = await server.token({ sub: user, topics: [], tools: ["**"] });
  const made = await connectUrlCaller("v2 modern", { url: `${server.url}/mcp?names=canonical`, token });
  callers.push(made);
  return made;
}

/** Signed in at the authorization server as `account`. */
async function contextOf(account: string, more: Parameters<Browser["newContext"]>[0] = {}) {
  const context = await browser.newContext(more);
  await context.addCookies([{ name: "account", value: account, url: issuer.issuer }]);
  return context;
}

async function openPage(context: BrowserContext, url: string) {
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") faults.push(message.text());
  });
  await page.goto(url);
  return { page, faults };
}

test("a user looks, presses the button, is let in and comes back", slow, async () => {
  const alice = await caller("alice");
  const { url } = await alice.call("notes.sign_in");
  const context = await contextOf("alice");
  const { page, faults } = await openPage(context, String(url));
  await page.getByRole("heading", { name: "notes" }).waitFor();
  await picture(page, "ask");
  await page.getByRole("button", { name: "I am alice: go on" }).click();
  await page.getByText("You can close this window.").waitFor();
  await picture(page, "done");
  expect(faults).toEqual([]);
  // Nothing of it is left in the browser.
  const left = (await context.cookies()).filter(({ name }) => name.includes("sign-in"));
  expect(left).toEqual([]);
  expect(await alice.call("notes.read")).toMatchObject({ text: "the secret of alice" });
  await context.close();
});

test("a page elsewhere cannot press the button for whoever looks at it", slow, async () => {
  const mallory = await caller("mallory");
  const { url } = await mallory.call("notes.sign_in");
  const own = await contextOf("mallory");
  const { page: shown } = await openPage(own, String(url));
  const proof = await shown.locator("input[name=proof]").getAttribute("value");
  const form = `<form method="post" action="${url}"><input name="proof" value="${proof}"></form>`;
  const before = issuer.authorizations.length;
  const victim = await contextOf("victim");
  const page = await victim.newPage();
  // They have looked at the page before: their browser has a cookie of ours, for another form.
  await page.goto(String(url));
  await page.route("http://elsewhere.example/", (route) =>
    route.fulfill({ contentType: "text/html", body: form }),
  );
  await page.goto("http://elsewhere.example/");
  const [answer] = await Promise.all([
    page.waitForResponse((one) => one.url() === url),
    page.evaluate("document.forms[0].submit()"),
  ]);
  expect(answer.status()).toBe(403);
  expect(issuer.authorizations).toHaveLength(before);
  // Nor can it be put into a frame, to be pressed unseen.
  const framing = await victim.newPage();
  await framing.route("http://elsewhere.example/frame", (route) =>
    route.fulfill({ contentType: "text/html", body: `<iframe src="${url}"></iframe>` }),
  );
  await framing.goto("http://elsewhere.example/frame");
  expect(await framing.frameLocator("iframe").getByRole("button").count()).toBe(0);
  // The control: on our page, in the browser it was shown in, it can be pressed.
  await shown.getByRole("button").click();
  await shown.getByText("You can close this window.").waitFor();
  expect(issuer.authorizations).toHaveLength(before + 1);
  await Promise.all([own.close(), victim.close()]);
});

test("on a telephone, in the dark, and where it did not work, it can be read", slow, async () => {
  const bob = await caller("bob");
  const { url } = await bob.call("notes.sign_in");
  const context = await contextOf("bob", { viewport: { width: 360, height: 640 }, colorScheme: "dark" });
  const { page } = await openPage(context, String(url));
  await picture(page, "ask-telephone");
  const width = await page.evaluate("document.documentElement.scrollWidth");
  expect(width).toBeLessThanOrEqual(360);
  await page.goto(`${new URL(String(url)).origin}/oauth/start/nothing`);
  await page.getByRole("heading", { name: "This did not work" }).waitFor();
  await picture(page, "fault-telephone");
  await context.close();
});

/** Into the directory that MCPX_PICTURES names, for whoever wants to look. */
async function picture(page: { screenshot(options: { path: string }): Promise<unknown> }, name: string) {
  const { MCPX_PICTURES: directory } = process.env;
  if (directory !== undefined) await page.screenshot({ path: `${directory}/sign-in-${name}.png` });
}
