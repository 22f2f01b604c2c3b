import { bridgeMigrations, createSqlitePushStore, type PushStore } from "@mcpx/bridges";
import { createLogger, openDatabase, systemClock } from "@mcpx/host";
import { expect, onTestFinished, test } from "vitest";
import { type PushService, startPushService } from "../../../../bridges/src/testing/push-service.ts";
import { createPushNotices, type PushNotices } from "./push-notices.ts";

interface Place {
  service: PushService;
  store: PushStore;
  notices: PushNotices;
  logged: string[];
  add(device: string): Promise<void>;
}

async function place(): Promise<Place> {
  const service = await startPushService();
  const db = openDatabase(":memory:", { component: "bridges", migrations: bridgeMigrations });
  const store = createSqlitePushStore(db);
  const logged: string[] = [];
  const log = createLogger({
    level: "warn",
    destination: { write: (line: string) => void logged.push(line) },
  });
  const contact = "mailto:ops@example.com";
  const notices = createPushNotices({
    store,
    clock: systemClock,
    log,
    contact,
    gatherMs: 20,
    pausesMs: [5, 5],
  });
  onTestFinished(async () => {
    notices.close();
    await service.close();
    db.close();
  });
  const add = async (device: string) => {
    const { endpoint, keys } = service.subscribe(device);
    await store.add({ endpoint, ...keys, name: device, at: 0 });
  };
  return { service, store, notices, logged, add };
}

const one = (path: string) => JSON.stringify({ body: "A call waits for you.", path });

test("[B-NOTIFY-1] every device is told once of what came together, and opens it", async () => {
  const { service, notices, add, logged } = await place();
  await add("phone");
  await add("tablet");
  notices.waits("/console/gates/a");
  await expect.poll(() => service.heard.length).toBe(2);
  expect(service.heard.toSorted((a, b) => a.device.localeCompare(b.device))).toEqual([
    { device: "phone", text: one("/console/gates/a") },
    { device: "tablet", text: one("/console/gates/a") },
  ]);
  for (const path of ["/console/gates/b", "/console/gates/b", "/console/rooms/c"]) notices.waits(path);
  await expect.poll(() => service.heard.length).toBe(4);
  expect(JSON.parse(service.heard[3]?.text ?? "")).toEqual({ body: "2 calls wait for you.", path: "/" });
  expect(logged).toEqual([]);
});

test("[B-NOTIFY-1] what passes is tried again; a device that is gone is forgotten; what lasts is said, and hurts no other device", async () => {
  const { service, notices, store, add, logged } = await place();
  await add("phone");
  service.answers.push({ status: 429, headers: { "retry-after": "0" } }, { status: 503 });
  notices.waits("/console/gates/a");
  await expect.poll(() => service.heard).toEqual([{ device: "phone", text: one("/console/gates/a") }]);
  service.answers.push({ status: 500 }, { status: 500 }, { status: 500 });
  notices.waits("/console/gates/b");
  await expect.poll(() => logged.join("")).toContain("could not notify a device");
  expect(logged).toHaveLength(1);
  const { endpoint, keys } = service.subscribe("lost");
  await store.add({ endpoint: `${endpoint}-gone`, ...keys, name: "lost", at: 0 });
  notices.waits("/console/gates/c");
  await expect.poll(async () => (await store.list()).map(({ name }) => name)).toEqual(["phone"]);
  await expect.poll(() => service.heard.at(-1)).toEqual({ device: "phone", text: one("/console/gates/c") });
  expect(logged.join("")).toContain("device unsubscribed from notifications");
  // Whoever knows an endpoint can make a device ring.
  expect(logged.join("")).not.toContain("/lost");
});

test("[B-NOTIFY-1] there is one key, and no more devices than a hundred", async () => {
  const { store, add } = await place();
  expect(await store.key()).toEqual(await store.key());
  for (let i = 0; i < 101; i += 1) await add(`device-${i}`);
  expect(await store.list()).toHaveLength(100);
  const [first] = await store.list();
  expect(await store.add({ ...(first as NonNullable<typeof first>), name: "again" })).toBe(true);
  expect(await store.removeAll()).toBe(100);
});
