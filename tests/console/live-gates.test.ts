// Gates come to the page by themselves: nothing is asked for again and again, one page listens for all of a browser,
// who was cut off misses nothing, and who has logged out hears nothing.
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser } from "../browser/page.ts";
import { newKey } from "../gates/attacks/support/keys.ts";
import { enrol, giveGrant } from "../gates/support/give-grant.ts";
import { type Scene, startScene } from "./support/scene.ts";
import { cards, openScreen } from "./support/screen.ts";
import { type Visitor, visit } from "./support/visitor.ts";

let browser: Browser;
let scene: Scene;
const slow = { timeout: 60_000 };

beforeAll(async () => {
  [browser, scene] = await Promise.all([openBrowser(), startScene()]);
}, 60_000);

afterAll(async () => {
  await browser.close();
  await scene.end();
});

/** Paths of what the pages of a context have asked for since. */
function requestsOf(context: BrowserContext): string[] {
  const paths: string[] = [];
  context.on("request", (request) => {
    const { pathname, search } = new URL(request.url());
    paths.push(`${pathname}${search}`);
  });
  return paths;
}

const count = (paths: readonly string[], part: string) => paths.filter((path) => path.includes(part)).length;
const lists = "/admin/gates?status=";
const news = "/gates/news";

/** Rooms are looked at every second: so many seconds have gone by. */
async function seconds(paths: string[], wanted: number): Promise<void> {
  const before = count(paths, "/v0/topics");
  await expect.poll(() => count(paths, "/v0/topics"), { timeout: 30_000 }).toBeGreaterThan(before + wanted);
}

const card = (page: Page, text: string) => cards(page).filter({ hasText: text });

test(
  "a new gate is there without being looked for; where the stream is refused it is looked for",
  slow,
  async () => {
    const { page, context, errors } = await openScreen(browser, await scene.link());
    const paths = requestsOf(context);
    await page.getByRole("link", { name: "bakery" }).waitFor();
    // The first look, and the one when the stream has begun.
    await seconds(paths, 2);
    paths.length = 0;
    await seconds(paths, 4);
    void scene.shred({ paper: "live" });
    await card(page, "live").waitFor();
    expect(count(paths, lists)).toBe(0);
    expect(count(paths, "/admin/gates/")).toBeGreaterThan(0);
    expect(errors).toEqual([]);
    await context.close();

    // The control: the same page without the stream, which the counting has to see.
    const other = await openScreen(browser, await scene.link());
    await other.page.getByRole("link", { name: "bakery" }).waitFor();
    const polled = requestsOf(other.context);
    await other.context.route(`**${news}`, (route) => route.abort());
    await other.page.reload();
    await seconds(polled, 4);
    expect(count(polled, lists)).toBeGreaterThanOrEqual(4);
    void scene.shred({ paper: "polled" });
    await card(other.page, "polled").waitFor();
    await other.context.close();
  },
);

test("of many tabs one listens for all; when it goes another does, and nothing is missed", slow, async () => {
  const { page, context } = await openScreen(browser, await scene.link());
  const paths = requestsOf(context);
  const origin = new URL(page.url()).origin;
  await page.getByRole("link", { name: "bakery" }).waitFor();
  // More than a browser has connections to one host.
  const others = await Promise.all(Array.from({ length: 7 }, () => context.newPage()));
  await Promise.all(others.map((other) => other.goto(origin)));
  await Promise.all(others.map((other) => other.getByRole("link", { name: "bakery" }).waitFor()));
  void scene.shred({ paper: "many tabs" });
  await Promise.all([page, ...others].map((one) => card(one, "many tabs").waitFor()));
  expect(count(paths, news)).toBe(1);
  await page.close();
  await expect.poll(() => count(paths, news)).toBe(2);
  void scene.shred({ paper: "next" });
  await Promise.all(others.map((one) => card(one, "next").waitFor()));
  expect(count(paths, news)).toBe(2);
  await context.close();
});

test("a decision in one place is on every page at once", slow, async () => {
  const { page, context } = await openScreen(browser, await scene.link());
  const other = await openScreen(browser, await scene.link());
  void scene.shred({ paper: "decided elsewhere" });
  await card(page, "decided elsewhere").waitFor();
  await card(other.page, "decided elsewhere").waitFor();
  await card(page, "decided elsewhere").getByRole("button", { name: "office.shred" }).click();
  await page.getByRole("button", { name: "Reject …" }).click();
  await page.getByRole("button", { name: "Make a key in this browser" }).click();
  await page.getByRole("button", { name: "Reject and sign" }).click();
  // What is finished is folded, with a word for each.
  await other.page.getByRole("button", { name: /finished$/ }).click();
  await card(other.page, "decided elsewhere").getByText("Rejected").first().waitFor();
  await Promise.all([context.close(), other.context.close()]);
});

test(
  "[B-AUDIT-1] panic and grants made elsewhere are on the page of rules within a second or two, a rejection is red in the audit",
  slow,
  async () => {
    const { page, context } = await openScreen(browser, await scene.link());
    const nav = (name: string) => page.getByRole("navigation").getByRole("link", { name }).click();
    await nav("Rules and grants");
    await page.getByRole("button", { name: "Panic: stop every call" }).waitFor();
    const setPanic = (on: boolean) => scene.server.callHere("POST", "/admin/panic", { on });
    expect((await setPanic(true)).status).toBe(200);
    // The header and the page say the same, without being asked again; a busy machine may take another second.
    await page.getByText("panic: every call needs an approval").waitFor({ timeout: 3_000 });
    await page.getByRole("button", { name: "End panic" }).waitFor({ timeout: 3_000 });
    // With an approver there, its end would wait for a signature.
    rmSync(join(scene.server.dataDir, "approvers"), { recursive: true });
    await scene.server.forgetApprovers();
    expect((await setPanic(false)).status).toBe(200);
    await page.getByRole("button", { name: "Panic: stop every call" }).waitFor({ timeout: 3_000 });
    const grant = { principal: "somebody-else", tools: "office.**", uses: 3 };
    const gran = newKey();
    enrol(scene.server.dataDir, "gran", gran);
    await scene.server.forgetApprovers();
    const here = (path: string, body: object) => scene.server.callHere("POST", path, body);
    expect((await giveGrant(here, gran, grant)).status).toBe(200);
    const grants = page.getByRole("region", { name: "List of grants" });
    await grants.getByText("3 times").waitFor({ timeout: 3_000 });

    await nav("Audit");
    const outcome = (action: string) =>
      page.getByRole("row").filter({ hasText: action }).first().locator("td:last-child .chip");
    await outcome("gate.panic").waitFor();
    expect(await outcome("gate.reject").textContent()).toBe("rejected");
    expect(await outcome("gate.reject").getAttribute("class")).toContain("bad");
    expect(await outcome("gate.panic").textContent()).toBe("panic");
    await context.close();
  },
);

interface Heard {
  events: string[];
  /** Resolves when the stream has ended. */
  over: Promise<void>;
  leave(): void;
}

async function listen({ cookie, half }: Visitor, lastId?: string): Promise<Heard> {
  const leaving = new AbortController();
  const response = await fetch(`${scene.server.url}/console/api${news}`, {
    headers: { cookie, "x-mcpx-console": half, ...(lastId !== undefined && { "last-event-id": lastId }) },
    signal: leaving.signal,
  });
  if (!response.ok || response.body === null) throw new Error(String(response.status));
  const events: string[] = [];
  const read = async () => {
    for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      events.push(...text.split("\n\n").filter((event) => event.includes("data:")));
    }
  };
  return { events, over: read().catch(() => undefined), leave: () => leaving.abort() };
}

const idOf = (event = "") => /^id: (\S+)$/m.exec(event)?.[1];
const dataOf = (event = "") => JSON.parse(/^data: (.+)$/m.exec(event)?.[1] ?? "null") as object;

test(
  "who comes back hears what was missed, and once; who was never there looks at everything",
  slow,
  async () => {
    const visitor = await visit(scene.server);
    const first = await listen(visitor);
    await expect.poll(() => first.events.map(dataOf)).toEqual([{ all: true }]);
    const lastId = idOf(first.events[0]);
    first.leave();
    await first.over;
    void scene.shred({ paper: "meanwhile" });
    await expect
      .poll(async () => JSON.stringify(await visitor.call("GET", "/console/api/admin/gates?status=pending")))
      .toContain("office.shred");
    const second = await listen(visitor, lastId);
    await expect.poll(() => second.events.length).toBe(1);
    expect(dataOf(second.events[0])).toEqual({ gate: expect.any(String) });
    const third = await listen(visitor, idOf(second.events[0]));
    void scene.shred({ paper: "after" });
    await expect.poll(() => [second.events.length, third.events.length]).toEqual([2, 1]);
    expect(third.events[0]).toBe(second.events[1]);
    // Positions of another process, and what is none.
    for (const wrong of ["AAAAAAAA-1", "x", `${lastId}9999`]) {
      const lost = await listen(visitor, wrong);
      await expect.poll(() => lost.events.map(dataOf)).toEqual([{ all: true }]);
      lost.leave();
    }
    second.leave();
    third.leave();
  },
);

test(
  "logging out ends the stream, and only that login's; without both halves there is none",
  slow,
  async () => {
    const [visitor, other] = [await visit(scene.server), await visit(scene.server)];
    const [leaving, staying] = [await listen(visitor), await listen(other)];
    await visitor.call("POST", "/console/api/logout", { body: {} });
    await leaving.over;
    void scene.shred({ paper: "logged out" });
    await expect.poll(() => staying.events.length).toBe(2);
    expect(leaving.events).toHaveLength(1);
    await expect(listen(visitor)).rejects.toThrow("401");
    await expect(listen({ ...other, half: visitor.half })).rejects.toThrow("401");
    await expect(listen({ ...other, cookie: "" })).rejects.toThrow("401");
    staying.leave();
  },
);

test("so many listen for one login and no more; who leaves makes room", slow, async () => {
  const visitor = await visit(scene.server);
  const all = await Promise.all(Array.from({ length: 8 }, () => listen(visitor)));
  await expect(listen(visitor)).rejects.toThrow("503");
  all[0]?.leave();
  const again = async () => {
    const late = await listen(visitor);
    late.leave();
    return true;
  };
  await expect.poll(() => again().catch(() => false)).toBe(true);
  for (const one of all) one.leave();
});

test(
  "a restart of the gateway ends the stream at once, and the page is live again after it",
  slow,
  async () => {
    const { page, context, errors } = await openScreen(browser, await scene.link());
    const paths = requestsOf(context);
    await page.getByRole("link", { name: "bakery" }).waitFor();
    const visitor = await visit(scene.server);
    const heard = await listen(visitor);
    paths.length = 0;
    await scene.server.restart();
    await heard.over;
    await expect.poll(() => count(paths, news)).toBeGreaterThan(0);
    void scene.shred({ paper: "after the restart" });
    await card(page, "after the restart").waitFor();
    await seconds(paths, 2);
    paths.length = 0;
    await seconds(paths, 3);
    expect(count(paths, lists)).toBe(0);
    expect(errors).toEqual([]);
    await context.close();
  },
);
