// Backups at the console, made and checked while the gateway runs; and the tools of the tree, sent when they are others.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openBrowser } from "../browser/page.ts";
import { scratch } from "../cli/support/mcpx-process.ts";
import { startTestServer } from "../support/test-server.ts";
import { enter, startGateway } from "./support/gateway.ts";
import { openScreen } from "./support/screen.ts";
import { visit } from "./support/visitor.ts";

const slow = { timeout: 60_000 };

test("a backup is made, listed and checked; a damaged one is said to be so", slow, async () => {
  const home = scratch();
  mkdirSync(join(home, "data"));
  writeFileSync(join(home, "data", "mcpx.json"), '{ "gates": { "timeout": "7m" } }');
  const gateway = await startGateway([], { home });
  const browser = await openBrowser();
  onTestFinished(() => browser.close());
  const { page, errors } = await openScreen(browser, gateway.link);
  await page.getByRole("region", { name: "Begin here" }).waitFor();
  await page.getByRole("navigation").getByRole("link", { name: "Backups" }).click();
  const region = page.getByRole("region", { name: "Backups", exact: true });
  await region.getByText("No backup was made here yet.").waitFor();
  await region.getByRole("button", { name: "Make a backup" }).click();
  const rows = region.getByRole("row").filter({ has: page.getByRole("button", { name: /^Check/ }) });
  await expect.poll(() => rows.count()).toBe(1);
  const dir = join(gateway.dataDir, "backups");
  const [name = ""] = readdirSync(dir);
  expect(await rows.textContent()).toContain(name);
  // All of it: what the gateway would need is there, its configuration too.
  expect(JSON.parse(readFileSync(join(dir, name, "mcpx.json"), "utf8"))).toEqual({
    gates: { timeout: "7m" },
  });
  expect(readdirSync(join(dir, name))).toEqual(
    expect.arrayContaining(["state.db", "topics.db", "backup.json"]),
  );
  await region.getByRole("button", { name: /^Check/ }).click();
  await region.getByText(/^sound, \d+ files$/).waitFor();
  // The control, and by who asks without a browser.
  writeFileSync(join(dir, name, "mcpx.json"), "{}");
  const visitor = await enter(await again(gateway));
  const checked = await visitor.call("POST", `/console/api/backups/${name}/check`, { body: {} });
  expect(checked.body).toMatchObject({
    isSound: false,
    problems: [expect.stringContaining("mcpx.json: it is not the file that was copied")],
  });
  for (const strange of ["..", "%2e%2e%2fdata", "2026-01-01T00-00-00"]) {
    const refused = await visitor.call("POST", `/console/api/backups/${strange}/check`, { body: {} });
    expect([strange, refused.status]).toEqual([strange, 404]);
  }
  const audit = await visitor.call("GET", "/console/api/admin/audit");
  expect(JSON.stringify(audit.body)).toContain('"backup.make"');
  expect(errors).toEqual([]);

  /** A link of the same gateway: the first is used up. */
  async function again<Gateway extends { link: string }>(of: Gateway): Promise<Gateway> {
    const made = (await page.evaluate(`fetch("/console/api/admin/console-links", {
      method: "POST", body: "{}",
      headers: { "content-type": "application/json", "x-mcpx-console": localStorage.getItem("mcpx-console-half") ?? "" },
    }).then((answer) => answer.json())`)) as { path: string };
    return { ...of, link: new URL(made.path, of.link).href };
  }
});

test("the tools of the tree are sent once, and again when they are others", slow, async () => {
  const server = await startTestServer();
  onTestFinished(() => server.stop());
  const visitor = await visit(server);
  const look = async (seen = "") => (await visitor.call("GET", `/console/api/tree?seen=${seen}`)).body;
  const first = await look();
  expect(first.tools).toEqual(expect.arrayContaining([expect.objectContaining({ name: "mcpax.status" })]));
  const again = await look(String(first.version));
  expect(again).toMatchObject({ version: first.version, servers: expect.any(Array) });
  expect(Object.keys(again)).not.toContain("tools");
  expect(Object.keys(again)).not.toContain("gated");
  // The control: who has another version is sent all of them.
  expect((await look("another")).tools).toEqual(first.tools);
});
