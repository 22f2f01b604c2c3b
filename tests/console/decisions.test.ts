// Deciding at the console in a real browser: by mouse, by keyboard alone, with a passkey, on a phone, over a restart.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser } from "../browser/page.ts";
import { plugIn } from "../browser/support/authenticator.ts";
import { type Scene, startScene } from "./support/scene.ts";
import { cards, goToTool, openCard, openScreen, type Screen } from "./support/screen.ts";

let browser: Browser;
let scene: Scene;
let screen: Screen;
const slow = { timeout: 60_000 };

beforeAll(async () => {
  [browser, scene] = await Promise.all([openBrowser(), startScene()]);
  screen = await openScreen(browser, await scene.link());
  await screen.page.getByRole("link", { name: "bakery" }).waitFor();
}, 60_000);

afterAll(async () => {
  await browser.close();
  await scene.end();
});

const clear = () => screen.page.getByRole("button", { name: "Clear" }).click();

test(
  "[X1-4.2.1-2] edited, then approved: what is sent is what was edited, and it is shown",
  slow,
  async () => {
    const { page, errors } = screen;
    scene.propose({ celsius: 900, minutes: 5 }, "very hot");
    await openCard(page, "heat");
    await page.getByRole("button", { name: "Edit …" }).click();
    const box = page.getByRole("textbox", { name: /Arguments/ });
    await box.fill('{"celsius": 900, ');
    expect(await page.getByRole("button", { name: "Approve as edited" }).isDisabled()).toBe(true);
    await box.fill('{"celsius": 200, "minutes": 5}');
    expect(await page.getByRole("list", { name: "Changes" }).textContent()).toMatch(/\/celsius:\s*900\s*200/);
    await page.getByRole("button", { name: "Approve as edited" }).click();
    await page.getByText("Approved by").waitFor();
    await expect.poll(() => scene.called.splice(0)).toEqual([{ celsius: 200, minutes: 5 }]);
    await page.getByText("Changed before it was approved").waitFor();
    expect(errors).toEqual([]);
    await clear();
  },
);

test("[X1-8-1] with the keyboard alone: Enter is No, and Yes takes another key", slow, async () => {
  const { page } = screen;
  scene.propose({ celsius: 1 });
  scene.propose({ celsius: 2 });
  await expect.poll(() => cards(page).count()).toBe(2);
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  const open = page.locator("article.open");
  await expect.poll(() => open.textContent()).toContain("celsius 2");
  await page.keyboard.press("a");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Enter");
  await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
  await page.keyboard.press("a");
  await page.keyboard.press("Escape");
  await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
  expect(scene.called).toEqual([]);
  await page.keyboard.press("a");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await expect.poll(() => scene.called.splice(0)).toEqual([{ celsius: 2 }]);
  // The tool was called before the page heard of it: until then keys are the dialog's.
  await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
  // The other one: rejected, with a reason that has letters of other keys in it.
  await page.keyboard.press("k");
  await page.keyboard.press("k");
  await page.keyboard.press("d");
  await page.keyboard.type("a bad idea, jack");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.getByText("“a bad idea, jack”").first().waitFor();
  expect(scene.called).toEqual([]);
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Shortcuts" }).waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("audit");
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "Audit" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("bakery");
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "Timeline" }).waitFor();
  await clear();
});

test("several chosen ones are approved together, each seen before", slow, async () => {
  const { page } = screen;
  for (const celsius of [11, 12, 13]) scene.propose({ celsius });
  await expect.poll(() => cards(page).count()).toBe(3);
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await page.getByRole("button", { name: "Approve 2 …" }).click();
  const text = await page.getByRole("dialog").textContent();
  expect(text).toContain("celsius 11");
  expect(text).toContain("celsius 12");
  expect(text).not.toContain("celsius 13");
  await page.getByRole("button", { name: "Yes, approve" }).click();
  await expect.poll(() => scene.called.length).toBe(2);
  expect(scene.called.splice(0)).toEqual([{ celsius: 11 }, { celsius: 12 }]);
  await expect.poll(() => cards(page).filter({ hasText: "asks to call" }).count()).toBe(1);
  // Somebody else may be faster: the card says who it was.
  const carl = await scene.join({ sub: "carl", level: "full", kind: "human" });
  // What somebody advised against is still pending there.
  const left = carl.proposals.pending().at(-1);
  if (left === undefined) throw new Error("nothing is pending");
  await page.keyboard.press("k");
  await page.keyboard.press("k");
  await page.keyboard.press("a");
  await carl.proposals.fulfil(left);
  await page.getByText("Approved by carl.").first().waitFor();
  expect(await page.getByRole("button", { name: "Yes, approve" }).isDisabled()).toBe(true);
  await page.keyboard.press("Escape");
  expect(scene.called.splice(0)).toEqual([{ celsius: 13 }]);
  await clear();
});

test("[AX-11.3-2] a passkey opens a gate, once; the next call is compared with it", slow, async () => {
  const { page, context, errors } = screen;
  await plugIn(context, page);
  const { body } = await scene.server.callHere("POST", "/admin/approvers/enrolments", { name: "anna" });
  const { origin } = new URL(page.url());
  await page.goto(`${origin}${new URL(String((body as { url?: unknown }).url)).pathname}`);
  await page.getByRole("button", { name: "Register a passkey" }).click();
  await page.getByText("Done. anna can approve").waitFor();
  await page.goto(origin);
  void scene.shred({ paper: "A" });
  await openCard(page, "office.shred");
  await page.getByRole("button", { name: "Approve …" }).click();
  await page.getByRole("button", { name: "Yes, approve with passkey" }).click();
  await page.getByText("Approved by anna. The call was made once, and is done.").waitFor();
  expect(scene.shredded()).toEqual(['shred {"paper":"A"}']);
  await page.getByText("shred is done").waitFor();
  await clear();
  void scene.shred({ paper: "B" });
  await openCard(page, "office.shred");
  await page.getByText("Different from the last approved call").waitFor();
  // What is not bound to these arguments says so before it is allowed.
  await page.getByRole("button", { name: /^Allow/ }).click();
  const scopes = page.getByRole("dialog", { name: "Allow for a while" }).locator("fieldset label");
  await scopes.first().waitFor();
  for (const scope of await scopes.allTextContents()) {
    expect(scope).toMatch(/with (exactly these|any) arguments/);
  }
  await page.keyboard.press("Escape");
  expect(await page.getByRole("region", { name: "Changes" }).textContent()).toMatch(/"A"\s*"B"/);
  await page.getByRole("button", { name: "Reject …" }).click();
  await page.getByRole("textbox", { name: /Reason/ }).fill("keep it");
  await page.getByRole("button", { name: "Reject with passkey" }).click();
  await page.getByText("Rejected by anna. “keep it” Nothing has happened.").waitFor();
  expect(scene.shredded()).toHaveLength(1);
  expect(errors).toEqual([]);
  await clear();
});

test("[X1-5.1-2] the level chip promotes after a question, and demotes at once", slow, async () => {
  const { page } = screen;
  const chip = page.getByRole("combobox", { name: "Level of agent" });
  await chip.selectOption("full");
  await page.getByRole("dialog", { name: "Promote" }).waitFor();
  expect(scene.agent.level).toBe("restricted");
  await page.getByRole("button", { name: "Yes, promote" }).click();
  await expect.poll(() => scene.agent.level).toBe("full");
  // The page hears of it by itself, and shows nothing else before.
  await expect.poll(() => chip.inputValue()).toBe("full");
  await chip.selectOption("restricted");
  await expect.poll(() => scene.agent.level).toBe("restricted");
  await page.getByText("agent from full to restricted").first().waitFor();
});

test(
  "[X0-9-1] a tool is called by hand, with a form made from its schema, and asked about unless it is trusted to read",
  slow,
  async () => {
    const { page } = screen;
    await page.getByRole("button", { name: "Tools of robot" }).click();
    await page.getByRole("region", { name: "Participants" }).getByRole("button", { name: "heat" }).click();
    await page.getByRole("button", { name: "Call", exact: true }).click();
    // What a participant says of its tools is not believed: whoever calls is asked first. [X0-9-1]
    await page.getByText("Call it with exactly these arguments?").waitFor();
    expect(scene.called).toEqual([]);
    await page.getByRole("button", { name: "Yes, call it" }).click();
    await page.getByRole("dialog").getByRole("region", { name: "Result" }).getByText("done").waitFor();
    expect(scene.called.splice(0)).toEqual([{}]);
    await page.keyboard.press("Escape");
    await goToTool(page, "office", "look");
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await page.getByRole("region", { name: "Tool" }).getByText("look is done").waitFor();
    await page.goBack();
  },
);

test("a restart of the gateway costs no line and no login", slow, async () => {
  const { page, errors } = screen;
  await scene.agent.say("before the restart");
  await page.getByText("before the restart").waitFor();
  await scene.server.restart();
  await scene.agent.say("after the restart");
  await page.getByText("after the restart").waitFor();
  // Everybody comes back in their own time.
  await expect.poll(() => scene.agent.peers.map(({ id }) => id)).toContain("robot");
  scene.propose({ celsius: 77 });
  await openCard(page, "heat");
  await page.getByRole("button", { name: "Approve …" }).click();
  await page.getByRole("button", { name: "Yes, approve" }).click();
  await expect.poll(() => scene.called.splice(0)).toEqual([{ celsius: 77 }]);
  expect(await page.getByText("before the restart").count()).toBe(1);
  expect(errors).toEqual([]);
  await clear();
});

test("on a phone everything fits, and a thumb decides", slow, async () => {
  const options = { viewport: { width: 375, height: 740 }, hasTouch: true, isMobile: true };
  const { page, context, errors } = await openScreen(browser, await scene.link(), options);
  scene.propose({ celsius: 5, note: "x".repeat(300) }, "on a phone");
  await openCard(page, "heat");
  const width = await page.evaluate("document.documentElement.scrollWidth");
  expect(width).toBeLessThanOrEqual(375);
  const approve = page.getByRole("button", { name: "Approve …" });
  expect((await approve.boundingBox())?.height).toBeGreaterThanOrEqual(38);
  await approve.tap();
  await page.getByRole("button", { name: "Yes, approve" }).tap();
  await expect.poll(() => scene.called.splice(0).length).toBe(1);
  await page.getByRole("button", { name: "Rooms and tools" }).tap();
  await page.getByRole("link", { name: "Servers" }).tap();
  await page.getByRole("region", { name: "Servers" }).waitFor();
  expect(errors).toEqual([]);
  await context.close();
});

test("a call by hand that waits says so, and leads to its card", slow, async () => {
  const { page, errors } = screen;
  await goToTool(page, "office", "mute");
  await page.getByRole("button", { name: "Call", exact: true }).click();
  await page.getByRole("button", { name: "Yes, call it" }).click();
  const tool = page.getByRole("region", { name: "Tool" });
  await tool.getByText("It waits at its gate. Nothing has happened yet.").waitFor();
  expect(await tool.textContent()).not.toMatch(/Failed|you cannot|mcpax\.wait/);
  await tool.getByRole("button", { name: "Go to its card" }).click();
  const card = cards(page).filter({ hasText: "office.mute" });
  await expect.poll(() => card.getByRole("button", { name: "Approve …" }).count()).toBe(1);
  expect(errors).toEqual([]);
});
