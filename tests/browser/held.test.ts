// Where humans look at held results, in a real browser with a passkey device. The address alone shows nothing of them.
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser } from "./page.ts";
import { type ApproveServer, startApproveServer, type Waiting } from "./support/approve-server.ts";
import { assertAt, plugIn } from "./support/authenticator.ts";

let server: ApproveServer;
let browser: Browser;
let context: BrowserContext;
let page: Page;
const errors: string[] = [];
const slow = { timeout: 60_000 };

beforeAll(async () => {
  server = await startApproveServer({ rules: [{ tools: "files.wipe", action: "allow", holdResult: true }] });
  browser = await openBrowser();
  context = await browser.newContext();
  page = await context.newPage();
  page.on("pageerror", (error) => errors.push(error.message));
  await plugIn(context, page);
  const { body } = await server.invite("anna");
  await page.goto(String(body.url));
  await page.getByRole("button", { name: "Register a passkey" }).click();
  await page.getByText("Done. anna can approve").waitFor();
  await server.reload();
}, 60_000);

afterAll(async () => {
  await browser.close();
  await server.stop();
});

/** What the server in the tree answers with holds its arguments. */
const secret = "<b>secret</b>\u202e";

async function held(path: string): Promise<Waiting> {
  await server.stopped({ path, secret });
  await expect
    .poll(async () => (await server.gates.store.list({ status: "held" })).length, { timeout: 10_000 })
    .toBeGreaterThan(0);
  return server.stopped({ path, secret });
}

const open = async ({ approve_url }: Waiting) => {
  await page.goto(approve_url);
  await page.getByText("has called").waitFor();
};
const resultText = () => page.locator("#result").textContent();
const isEnabled = (name: string) => page.getByRole("button", { name }).isEnabled();

test("[B-GATE-1] looked at with a passkey, then released: the caller gets exactly it", slow, async () => {
  const waiting = await held("/released");
  await open(waiting);
  expect(await resultText()).toBe("");
  expect(await isEnabled("Release …")).toBe(false);
  expect(await isEnabled("Withhold …")).toBe(true);
  await page.getByRole("button", { name: "Show the result …" }).click();
  await page.getByText("This is what its caller will see").waitFor();
  expect(await resultText()).toContain("<b>secret</b>U+202E");
  expect(await page.locator("#result").locator("b, img, script, a").count()).toBe(0);
  await page.getByRole("button", { name: "Release …" }).click();
  await page.getByRole("button", { name: "Release with passkey" }).click();
  await page.getByText("Released by anna.").waitFor();
  expect(JSON.stringify(await server.call({ path: "/released", secret }))).toContain("secret");
  expect(server.called()).toHaveLength(1);
  const words = (await server.audited()).map(([action, actor]) => `${action} ${actor}`);
  expect(words.filter((word) => word.startsWith("gate."))).toEqual(
    expect.arrayContaining(["gate.held agent", "gate.look anna", "gate.release anna"]),
  );
  expect(errors).toEqual([]);
});

test("withheld with a reason, unseen: the caller is told that it has happened", slow, async () => {
  await open(await held("/withheld"));
  await page.keyboard.press("d");
  await page.getByRole("textbox", { name: /Reason/ }).fill("not today");
  await page.getByRole("button", { name: "Withhold with passkey" }).click();
  await page.getByText("its result was withheld by anna: not today").waitFor();
  expect(await server.call({ path: "/withheld", secret })).toMatchObject({
    isError: true,
    content: [{ text: "The call was made; its result was withheld: not today" }],
  });
});

test("[AX-11.3-2] who only looks decides nothing, and who decides has not looked by that", slow, async () => {
  const waiting = await held("/looked");
  const { confirmation_id: id } = waiting;
  await open(waiting);
  // As the page does it: passkeys belong to where they are asked for.
  const prompt = (path: string, body: object): Promise<Record<string, unknown>> =>
    page.evaluate(
      async ({ url, text }) => {
        const headers = { "content-type": "application/json" };
        const response = await fetch(url, { method: "POST", headers, body: text });
        return (await response.json()) as Record<string, unknown>;
      },
      { url: `${server.origin}/approve/${id}/${path}`, text: JSON.stringify(body) },
    );
  const sign = async ({ challenge }: Record<string, unknown>) =>
    assertAt(page, { challenge: String(challenge), rpId: "localhost", userVerification: "required" });
  const looking = await sign(await prompt("look/options", {}));
  const releasing = await sign(await prompt("passkey/options", { decision: "approve" }));
  const refused = { status: 403, body: { error: { reason: "bad_proof" } } };
  const decided = { credential: looking, decision: "approve" };
  expect(await server.post(`/approve/${id}/passkey/decision`, decided)).toMatchObject(refused);
  expect(await server.post(`/approve/${id}/look`, { credential: releasing })).toMatchObject(refused);
  expect(await server.post(`/approve/${id}/look`, {})).toMatchObject(refused);
  const seen = await (await fetch(`${server.origin}/approve/${id}/call`)).text();
  expect(seen).not.toContain("result_text");
  // The control: each counts where it belongs.
  const shown = await server.post(`/approve/${id}/look`, { credential: looking });
  expect(JSON.stringify(shown.body)).toContain("secret");
});
