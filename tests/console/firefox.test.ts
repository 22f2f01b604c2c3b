// The main walks of the console in Debian's firefox-esr: addresses, deciding by keys, undo, a signature by a key of the
// browser, an edit that does not fit its schema, a filter. Only for `npm run soak`: the browser alone is 300 MB.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Firefox, openFirefox } from "./support/firefox.ts";
import { type Scene, startScene } from "./support/scene.ts";

let firefox: Firefox;
let scene: Scene;
const slow = { timeout: 180_000 };

beforeAll(async () => {
  [firefox, scene] = await Promise.all([openFirefox(), startScene()]);
}, 180_000);

afterAll(async () => {
  await firefox.close();
  await scene.end();
});

const text = (selector: string) =>
  `[...document.querySelectorAll(${JSON.stringify(selector)})].map((one) => one.textContent).join(" ")`;
const shows = (selector: string, what: string) =>
  firefox.until(`${text(selector)}.includes(${JSON.stringify(what)})`);
const pathIs = (path: string) =>
  firefox.until(`location.pathname + location.search === ${JSON.stringify(path)}`);

test("an address asks for a login, and comes back; Back and reload show the same", slow, async () => {
  const link = await scene.link();
  const { origin } = new URL(link);
  await firefox.go(`${origin}/console/audit?search=console`);
  await shows("main", "You are not logged in.");
  await firefox.go(link);
  await pathIs("/console/audit?search=console");
  await shows(".sheet h2", "Audit");
  for (const [name, path] of [
    ["Topology", "/console/topology"],
    ["Backups", "/console/backups"],
  ]) {
    await firefox.click("nav a", name);
    await shows(".sheet h2", String(name));
    await pathIs(String(path));
  }
  await firefox.reload();
  await shows(".sheet h2", "Backups");
  await firefox.traverse(-1);
  await shows(".sheet h2", "Topology");
  await firefox.traverse(-1);
  await pathIs("/console/audit?search=console");
  await firefox.click("nav a", "bakery");
  await pathIs("/console/rooms/bakery");
});

test("keys decide, what was decided can be taken back, and the next card is selected", slow, async () => {
  for (const celsius of [1, 2]) scene.propose({ celsius });
  await shows(".deck h2", "2 waiting for you");
  await shows("article.open", "celsius 1");
  await firefox.press("a");
  await shows("dialog[open] h2", "Approve exactly this, once?");
  await firefox.press("Control+Enter");
  await shows(".deck [role=status]", "Approving");
  await shows("article.open", "celsius 2");
  await firefox.press("z");
  await firefox.until(`document.querySelectorAll(".deck [role=status]").length === 0`);
  expect(scene.called).toEqual([]);
  await firefox.press("k");
  await shows("article.open", "celsius 1");
  await firefox.press("a");
  await shows("dialog[open] h2", "Approve");
  await firefox.press("Control+Enter");
  await expect.poll(() => scene.called, { timeout: 30_000 }).toEqual([{ celsius: 1 }]);
  await firefox.press("d");
  await shows("dialog[open] h2", "Reject");
  await firefox.click("dialog textarea");
  await firefox.type("too cold");
  await firefox.press("Control+Enter");
  await shows(".deck", "“too cold”");
});

test("an edit that is no JSON is told, and not sent", slow, async () => {
  scene.propose({ celsius: 3 });
  await shows("article.open", "celsius 3");
  await firefox.press("e");
  await shows("dialog[open] h2", "Edit, then approve");
  await firefox.click("dialog .raw textarea");
  await firefox.type("x");
  await firefox.until(`document.querySelector("dialog .actions button:last-of-type").disabled`);
  await firefox.press("Escape");
  await firefox.until(`document.querySelector("dialog[open]") === null`);
});

test("a key of this browser signs a decision about a gate", slow, async () => {
  void scene.shred({ path: "/tmp/firefox" });
  await shows(".deck", "office.shred");
  await firefox.click("article .title", "office.shred");
  await shows("article.open", "Irreversible");
  await firefox.click("article.open .buttons button", "Approve");
  await firefox.click("dialog button", "Make a key in this browser");
  await firefox.click("dialog .actions button", "and sign");
  await expect.poll(() => scene.shredded(), { timeout: 30_000 }).toEqual(['shred {"path":"/tmp/firefox"}']);
});

test("the navigation is filtered, and finds tools of folded servers", slow, async () => {
  await firefox.click("nav input");
  await firefox.type("shred");
  await shows("nav .tools", "shred");
  expect(await firefox.read(text("nav .tools"))).not.toContain("look");
});
