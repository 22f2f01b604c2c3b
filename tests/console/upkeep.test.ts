// Upkeep at the console: backups, the signing key, devices and their lines; and the tools of the tree, sent when they are
// others.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startSimulatedStub } from "../../packages/devices/src/testing/simulated-stub.ts";
import { openBrowser } from "../browser/page.ts";
import { scratch } from "../cli/support/mcpx-process.ts";
import { startTestServer } from "../support/test-server.ts";
import { axeFaults } from "./support/axe.ts";
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

test(
  "a signing key is rotated after it was said what ends; old tokens go on, new ones have the new key",
  slow,
  async () => {
    const gateway = await startGateway();
    const browser = await openBrowser();
    onTestFinished(() => browser.close());
    const { page, errors } = await openScreen(browser, gateway.link);
    const keys = async () => {
      const answer = await fetch(`${gateway.url}/.well-known/jwks.json`);
      return ((await answer.json()) as { keys: { kid: string }[] }).keys.map(({ kid }) => kid);
    };
    const signedWith = (token: string) =>
      JSON.parse(Buffer.from(token.split(".", 1)[0] ?? "", "base64url").toString()).kid;
    const make = async (id: string) => {
      await page.getByRole("textbox", { name: "Participant id" }).fill(id);
      await page.getByRole("textbox", { name: "Rooms" }).fill("**");
      await page.getByRole("button", { name: "Make a token" }).click();
      const token = await page.getByRole("textbox", { name: "The new token" }).inputValue();
      await page.getByRole("button", { name: "I have it" }).click();
      return token;
    };
    const enters = async (token: string) =>
      (await fetch(`${gateway.url}/v0/topics`, { headers: { authorization: `Bearer ${token}` } })).status;
    await page.getByRole("navigation").getByRole("link", { name: "Tokens" }).click();
    const before = await make("old");
    const [first] = await keys();
    expect(signedWith(before)).toBe(first);
    const rotate = page.getByRole("button", { name: "Rotate the signing key …" });
    const dialog = page.getByRole("dialog");
    await rotate.click();
    await dialog.getByText(/\d+ tokens of the old key stay valid until they end, the last on/).waitFor();
    await dialog.getByText("The private half of the old key is deleted.").waitFor();
    expect(await axeFaults(page)).toEqual([]);
    // Enter is No.
    await page.keyboard.press("Enter");
    await expect.poll(() => dialog.count()).toBe(0);
    expect(await keys()).toEqual([first]);
    await rotate.click();
    await dialog.getByRole("button", { name: "Yes, rotate the key" }).click();
    await page.getByText(/^Tokens are signed with the new key [0-9a-f]{8} from now on\.$/).waitFor();
    const after = await make("new");
    expect(await keys()).toEqual(expect.arrayContaining([first, signedWith(after)]));
    expect(signedWith(after)).not.toBe(first);
    expect([await enters(before), await enters(after)]).toEqual([200, 200]);
    expect(errors).toEqual([]);
  },
);

test(
  "the frames of a device are shown in both directions as they come, and a line is probed",
  slow,
  async () => {
    const stub = await startSimulatedStub();
    onTestFinished(() => stub[Symbol.asyncDispose]());
    const spare = await startSimulatedStub();
    onTestFinished(() => spare[Symbol.asyncDispose]());
    const home = scratch();
    mkdirSync(join(home, "data"));
    const add = { id: 1, arguments: ["a", "b"].map((name) => ({ name, type: "uint" })), result: [] };
    const sum = { line: `tcp://127.0.0.1:${stub.port}`, profile: "b", heartbeat: "1s", tools: { add } };
    writeFileSync(join(home, "data", "mcpx.json"), JSON.stringify({ devices: { sum } }));
    const gateway = await startGateway([], { home });
    const browser = await openBrowser();
    onTestFinished(() => browser.close());
    const { page, errors } = await openScreen(browser, gateway.link, { bypassCSP: true });
    await page.getByRole("navigation").getByRole("link", { name: "Devices" }).click();
    await page.getByRole("article", { name: "sum" }).getByText("up", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Frames of sum" }).click();
    const frames = page.getByRole("region", { name: "Frames of sum" });
    await frames
      .getByText(/→ device\s+heartbeat id \d+/)
      .first()
      .waitFor();
    await frames
      .getByText(/← device\s+id \d+ result/)
      .first()
      .waitFor();
    expect(await axeFaults(page)).toEqual([]);
    // Its own line is busy with it; another is asked who is there, and nothing is called.
    const line = page.getByRole("textbox", { name: "Line" });
    const probe = page.getByRole("button", { name: "Probe", exact: true });
    await line.fill("serial:");
    await probe.click();
    await page.getByRole("alert").getByText("a line is written as tcp://HOST:PORT").waitFor();
    await expect.poll(() => errors.splice(0)).toEqual([expect.stringContaining("status of 400")]);
    await line.fill(`tcp://127.0.0.1:${spare.port}`);
    await probe.click();
    await page
      .getByText("profile B, serial number 73696d, packets of up to 1024 bytes, one call at a time")
      .waitFor();
    await page.getByText("tool 1(uint, uint)").waitFor();
    const entry = JSON.parse(await page.getByRole("textbox", { name: /^For mcpx.json/ }).inputValue());
    expect(entry.devices.device).toMatchObject({ line: `tcp://127.0.0.1:${spare.port}`, serial: "73696d" });
    spare.isSilent = true;
    await probe.click();
    await page.getByText("Nobody answers on").waitFor();
    expect(await axeFaults(page)).toEqual([]);
    expect(errors).toEqual([]);
  },
);
