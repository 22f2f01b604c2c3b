// What looks like a secret in arguments is shown nowhere until somebody asks for it, and that they did is in the audit: one
// call at a gate and one of a participant's tool, looked for in everything that leaves the gateway.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { createPostPlace, createTraces, type OtelSettings, otelSettings, webhookBody } from "@mcpx/host";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  createFixturePlatform,
  fixtureChannel,
} from "../../packages/bridges/src/testing/fixture-platform.ts";
import { startPushService } from "../../packages/bridges/src/testing/push-service.ts";
import { openBrowser } from "../browser/page.ts";
import { mcpx, scratch } from "../cli/support/mcpx-process.ts";
import { startReceiver } from "../traces/support/otlp-receiver.ts";
import { type Scene, startScene } from "./support/scene.ts";
import { cards, openCard, openScreen } from "./support/screen.ts";
import { visit } from "./support/visitor.ts";

let browser: Browser;
let scene: Scene;
/** What has left the gateway, by the way it went. */
const sent = { cards: () => "", push: () => "", records: [] as string[], spans: async () => "" };
const ending: (() => unknown)[] = [];
const slow = { timeout: 120_000 };
const byName = "hunter2hunter2";
const byShape = "ghp_0123456789abcdefABCDEF0123456789abcd";
const bySchema = "opensesame";
const secrets = [byName, byShape, bySchema];
const args = { owner: "old-mother", password: byName, note: byShape, word: bySchema };

/** Of the robot's tool in the room. */
const inputSchema = { type: "object", properties: { word: { type: "string", format: "password" } } };

beforeAll(async () => {
  const locksmith = join(import.meta.dirname, "../gates/support/locksmith.ts");
  const servers = { locksmith: { command: process.execPath, args: [locksmith], trusted: true } };
  const platform = createFixturePlatform();
  sent.cards = () => JSON.stringify(platform.posts.map(({ post }) => post));
  const bridge = {
    name: "team",
    kind: "xmpp",
    unlinked: "read",
    reach: "memory",
    open: platform.open,
  } as const;
  const devices = await startPushService();
  sent.push = () => JSON.stringify(devices.heard);
  const collector = await startReceiver();
  const otel = otelSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }, "1") as OtelSettings;
  const log = { warn: (_: object, words: string) => expect.fail(words) };
  const traces = createTraces(otel, log as never);
  sent.spans = async () => {
    await traces.close();
    return JSON.stringify(collector.spans);
  };
  ending.push(
    () => devices.close(),
    () => collector.close(),
  );
  const place = createPostPlace({ url: await startSiem(), headers: () => ({}), body: webhookBody });
  [browser, scene] = await Promise.all([
    openBrowser(),
    startScene({
      ...{ servers, inputSchema, room: "bakery", push: { services: [devices.origin] } },
      more: {
        bridges: [{ ...bridge, channels: new Map([[fixtureChannel, "bakery"]]) }],
        auditPush: [{ name: "siem", place }],
        tracer: traces.tracer,
      },
    }),
  ]);
  const visitor = await visit(scene.server);
  const device = { subscription: devices.subscribe("phone"), name: "phone" };
  expect((await visitor.call("POST", "/console/api/push", { body: device })).status).toBe(201);
}, 60_000);

/** Takes audit records. */
async function startSiem(): Promise<string> {
  const siem = createServer(async (request, response) => {
    sent.records.push(await text(request));
    response.end();
  });
  await new Promise<void>((resolve) => siem.listen(0, "127.0.0.1", resolve));
  ending.push(() => siem.close());
  return `http://127.0.0.1:${(siem.address() as AddressInfo).port}/audit`;
}

afterAll(async () => {
  await browser.close();
  await scene.end();
  for (const end of ending) await end();
});

const seenIn = async (page: Page) => {
  const text = (await page.locator("body").textContent()) ?? "";
  return secrets.filter((secret) => text.includes(secret));
};
const shownRecords = async () => {
  const { body } = await scene.server.callHere("GET", "/admin/audit?action=secret.show");
  return body.records as { actor?: string; topic?: string; detail: Record<string, unknown> }[];
};

test(
  "arguments are masked by schema, by name and by shape on the card, folded and open, until somebody asks",
  slow,
  async () => {
    const { page, context } = await openScreen(browser, await scene.link());
    void scene.call("locksmith.unlock", args);
    const card = cards(page).filter({ hasText: "locksmith.unlock" });
    await card.waitFor();
    // Folded: the control is what is no secret.
    await card.getByText("old-mother").first().waitFor();
    expect(await seenIn(page)).toEqual([]);
    await openCard(page, "locksmith.unlock");
    await expect
      .poll(() => card.getByRole("button", { name: "show what looks like a secret" }).count())
      .toBe(3);
    expect(await seenIn(page)).toEqual([]);
    expect(await shownRecords()).toEqual([]);
    await card.getByRole("button", { name: "show what looks like a secret" }).last().click();
    await card.getByText(bySchema).waitFor();
    expect(await seenIn(page)).toEqual([bySchema]);
    const [record] = await shownRecords();
    const { gates } = (await scene.server.callHere("GET", "/admin/gates?status=pending")).body;
    expect(record).toMatchObject({
      actor: expect.stringContaining("console:"),
      detail: { gate: gates[0].id },
    });
    expect(JSON.stringify(record)).not.toContain(bySchema);

    // The page that the call names does the same.
    const other = await context.newPage();
    await other.goto(`${new URL(page.url()).origin}/approve/${gates[0].id}`);
    await other.getByText("old-mother").waitFor();
    expect(await seenIn(other)).toEqual([]);
    await other.getByRole("button", { name: "show what looks like a secret" }).first().click();
    await other.getByText(byName).waitFor();
    expect(await shownRecords()).toHaveLength(2);
    await context.close();
  },
);

test("what cannot be recorded is not shown", slow, async () => {
  const { page, context } = await openScreen(browser, await scene.link());
  await openCard(page, "locksmith.unlock");
  await context.route("**/secrets/shown", (route) => route.abort());
  const card = cards(page).filter({ hasText: "locksmith.unlock" });
  await card.getByRole("button", { name: "show what looks like a secret" }).first().click();
  await card.getByText("so it is not shown").waitFor();
  expect(await seenIn(page)).toEqual([]);
  await context.close();
});

test(
  "timeline and sequence of a room mask them, by the schema of a participant's tool too, and so does each of several calls that are decided together",
  slow,
  async () => {
    const { page, context } = await openScreen(browser, await scene.link());
    for (const celsius of [180, 190]) {
      scene.propose({ ...args, celsius }).result.catch(() => undefined);
    }
    await expect.poll(() => cards(page).filter({ hasText: "heat" }).count()).toBe(2);
    for (const card of await cards(page).all()) await card.getByRole("checkbox").check();
    await page.keyboard.press("a");
    const dialog = page.getByRole("dialog");
    await expect.poll(() => dialog.getByText("old-mother").count()).toBe(3);
    expect(await dialog.getByRole("button", { name: "show what looks like a secret" }).count()).toBe(9);
    expect(await seenIn(page)).toEqual([]);
    await dialog.getByRole("button", { name: "No, go back" }).click();
    await page.getByRole("link", { name: "bakery" }).click();
    await page.getByText("180").first().waitFor();
    expect(await seenIn(page)).toEqual([]);
    await page.getByRole("button", { name: "Sequence" }).click();
    await page.getByText("heat").first().waitFor();
    expect(await seenIn(page)).toEqual([]);
    await context.close();
  },
);

test("the terminal masks them, and --secrets shows and records it", slow, async () => {
  const token = await scene.server.adminToken();
  const pending = (...more: string[]) =>
    mcpx(["pending", ...more, "--url", scene.server.url, "--token", token], { cwd: scratch() });
  const before = (await shownRecords()).length;
  const masked = await pending();
  expect(masked.out).toContain("old-mother");
  for (const secret of secrets) expect(masked.out).not.toContain(secret);
  expect(masked.out).toContain("3 values look like a secret: --secrets shows it");
  expect(await shownRecords()).toHaveLength(before);
  const open = await pending("--secrets");
  for (const secret of secrets) expect(open.out).toContain(secret);
  expect((await shownRecords()).length).toBeGreaterThan(before);
});

test("the terminal masks what waits in a room, by the schema of a participant's tool too", slow, async () => {
  const token = await scene.server.token({ sub: "anna", topics: ["bakery"], level: "full" });
  const place = ["--url", scene.server.url, "--token", token];
  const { out } = await mcpx(["pending", "bakery", ...place], { cwd: scratch() });
  expect(out).toContain("robot to do heat");
  expect(out.match(/old-mother/g)).toHaveLength(3);
  for (const secret of secrets) expect(out).not.toContain(secret);
  const open = await mcpx(["pending", "bakery", "--secrets", ...place], { cwd: scratch() });
  for (const secret of secrets) expect(open.out).toContain(secret);
});

test("after an approval nothing that has left the gateway has them", slow, async () => {
  const key = join(scratch(), "alice.jwk");
  const run = (...words: string[]) => mcpx([...words, "--data", scene.server.dataDir], { cwd: scratch() });
  await run("key", "new", "--out", key, "--unsealed");
  await run("key", "enroll", "alice", "--key", key, "--unsealed", "--yes");
  const [gate] = (await scene.server.callHere("GET", "/admin/gates?status=pending")).body.gates;
  const reached = ["--url", scene.server.url, "--token", await scene.server.adminToken()];
  const approved = await run("approve", gate.id, "--yes", "--key", key, ...reached);
  expect(approved).toMatchObject({ code: 0, out: expect.stringContaining("approved, and done") });
  await expect.poll(() => sent.records.join("")).toContain("gate.done");
  await expect.poll(sent.cards).toContain("Approved by tree");
  const audit = await scene.server.callHere("GET", "/admin/audit?limit=1000");
  const leaving = {
    gates: JSON.stringify((await scene.server.callHere("GET", "/admin/gates")).body),
    audit: JSON.stringify(audit.body),
    export: (await run("audit", "--json")).out,
    records: sent.records.join(""),
    cards: sent.cards(),
    push: sent.push(),
    log: scene.server.logged.join(""),
    spans: await sent.spans(),
    metrics: String((await scene.server.callHere("GET", "/metrics")).body),
  };
  const controls = { push: "A call waits", metrics: "mcpx_", cards: "old-mother", log: "participant joined" };
  for (const [way, said] of Object.entries(leaving)) {
    expect(said, way).toContain({ ...controls }[way] ?? "locksmith");
    expect(
      secrets.filter((secret) => said.includes(secret)),
      way,
    ).toEqual([]);
  }
});
