// A buzz in the pocket: a device that asked for it hears that something waits, and its service worker shows it. Chromium has
// no push service here, so the subscription is one of a strict service on loopback; all else is real.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type PushService, startPushService } from "../../packages/bridges/src/testing/push-service.ts";
import { openBrowser } from "../browser/page.ts";
import { axeFaults } from "./support/axe.ts";
import { type Scene, startScene } from "./support/scene.ts";
import { openScreen } from "./support/screen.ts";
import { visit } from "./support/visitor.ts";

let browser: Browser;
let scene: Scene;
let service: PushService;
const api = "/console/api/push";

beforeAll(async () => {
  service = await startPushService();
  [browser, scene] = await Promise.all([openBrowser(), startScene({ push: { services: [service.origin] } })]);
}, 60_000);

afterAll(async () => {
  await browser.close();
  await scene.end();
  await service.close();
});

test("[B-NOTIFY-1] a phone is told of a gate and of a proposal, shows it, and is taken back", {
  timeout: 60_000,
}, async () => {
  const { page, context, errors } = await openScreen(browser, await scene.link());
  const origin = new URL(page.url()).origin;
  await context.grantPermissions(["notifications"], { origin });
  const subscription = service.subscribe("phone");
  await context.addInitScript(`PushManager.prototype.subscribe = async (options) => {
      const isAsked = options?.userVisibleOnly === true && String(options.applicationServerKey).length === 87;
      if (!isAsked) throw new TypeError("a browser would refuse this");
      return { toJSON: () => (${JSON.stringify(subscription)}) };
    };`);
  await page.goto(`${origin}/console/approvers`);
  const box = page.getByRole("region", { name: "Notifications" });
  await box.getByRole("button", { name: "Notify this device" }).click();
  await box.getByRole("listitem").filter({ hasText: "Chrome on Linux" }).waitFor();
  void scene.shred({ paper: "a secret" });
  await expect.poll(() => service.heard.length).toBe(1);
  const { body, path } = JSON.parse(service.heard[0]?.text ?? "");
  expect(body).toBe("A call waits for you.");
  expect(path).toMatch(/^\/console\/gates\/[\w-]+$/);
  await scene.propose({ loaves: 3 });
  await expect.poll(() => service.heard.length).toBe(2);
  expect(JSON.parse(service.heard[1]?.text ?? "").path).toBe("/console/rooms/bakery");

  // What the push service would hand to the browser reaches the service worker.
  const cdp = await context.newCDPSession(page);
  const registered = Promise.withResolvers<string>();
  cdp.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
    const [one] = registrations;
    if (one !== undefined) registered.resolve(one.registrationId);
  });
  await cdp.send("ServiceWorker.enable");
  const registrationId = await registered.promise;
  const shown = () =>
    page.evaluate(`navigator.serviceWorker.getRegistration("/console/").then(async (registration) =>
        (await registration.getNotifications()).map((one) => [one.title, one.body, one.data]))`);
  for (const [data, expected] of [
    [service.heard[0]?.text ?? "", ["mcpx", "A call waits for you.", path]],
    ["no JSON", ["mcpx", "Something waits for you.", "/"]],
    ['{"body":7,"path":"https://evil.example/"}', ["mcpx", "Something waits for you.", "/"]],
  ] as const) {
    await cdp.send("ServiceWorker.deliverPushMessage", { origin, registrationId, data });
    await expect.poll(shown).toEqual([expected]);
  }
  expect(errors).toEqual([]);
  await box.getByRole("button", { name: "Remove Chrome on Linux" }).click();
  await box.getByText("None yet.").waitFor();
  // Another one hears what it does not.
  const visitor = await visit(scene.server);
  const tablet = { subscription: service.subscribe("tablet"), name: "tablet" };
  expect((await visitor.call("POST", api, { body: tablet })).status).toBe(201);
  void scene.shred({ paper: "later" });
  await expect.poll(() => service.heard.map(({ device }) => device)).toEqual(["phone", "phone", "tablet"]);
  await context.close();
});

test("[B-NOTIFY-1] nothing else is ever asked: other services, private addresses and wrong keys are refused", async () => {
  const visitor = await visit(scene.server);
  const good = service.subscribe("tablet");
  const add = async (subscription: unknown, name: unknown = "tablet") =>
    (await visitor.call("POST", api, { body: { subscription, name } })).status;
  const real = "https://fcm.googleapis.com/fcm/send/abc";
  for (const endpoint of [
    "http://127.0.0.1:1/x",
    "https://169.254.169.254/latest",
    "https://evil.example/x",
    "https://fcm.googleapis.com.evil.example/x",
    "https://fcm.googleapis.com:8443/x",
    "https://user@fcm.googleapis.com/x",
    "http://fcm.googleapis.com/x",
    `${service.origin}.evil.example/x`,
    "file:///etc/passwd",
    `${real}${"x".repeat(3_000)}`,
    7,
  ]) {
    expect(await add({ ...good, endpoint }), String(endpoint).slice(0, 60)).toBe(400);
  }
  expect(await add({ ...good, keys: { ...good.keys, p256dh: "AAAA" } })).toBe(400);
  expect(await add({ ...good, keys: { ...good.keys, auth: "AAAA" } })).toBe(400);
  expect(await add(good, "a\u202eb")).toBe(400);
  expect(await add(good, "")).toBe(400);
  // Controls.
  expect(await add({ ...good, endpoint: real })).toBe(201);
  expect(await add(good)).toBe(201);
  const { body } = await visitor.call("GET", api);
  expect(body.devices).toHaveLength(2);
  expect(JSON.stringify(body)).not.toContain(service.origin);
  // Who is logged out everywhere is told nothing any more.
  expect((await scene.server.callHere("POST", "/admin/console-logouts")).status).toBe(200);
  const again = await visit(scene.server);
  expect((await again.call("GET", api)).body.devices).toEqual([]);
});

test("the box of notifications has no fault of accessibility", async () => {
  const { page, context } = await openScreen(browser, await scene.link(), { bypassCSP: true });
  await page.getByRole("navigation").getByRole("link", { name: "Approvers" }).click();
  await page.getByRole("region", { name: "Notifications" }).waitFor();
  expect(await axeFaults(page)).toEqual([]);
  await context.close();
});
