// What every store of devices must do.
import { expect, test } from "vitest";
import { devicesMax, type PushDevice, type PushStore } from "./push-store.ts";

const device = (name: string, more: Partial<PushDevice> = {}): PushDevice => ({
  endpoint: `https://push.example/${name}`,
  p256dh: "p",
  auth: "a",
  name,
  at: 1,
  ...more,
});

/** Each call makes an empty place; what it gives back opens it, each time anew. */
export function pushStoreCases(place: () => () => PushStore | Promise<PushStore>): void {
  test("the key is made once, also where several ask first at once, and stays", async () => {
    const open = place();
    const stores = await Promise.all([open(), open(), open()]);
    const keys = await Promise.all(stores.map(async (store) => (await store.key()).privateJwk));
    expect(new Set(keys.map((key) => JSON.stringify(key))).size).toBe(1);
    expect((await (await open()).key()).privateJwk).toEqual(keys[0]);
    expect((await (await place()()).key()).privateJwk).not.toEqual(keys[0]);
  });

  test("devices are listed in the order they came, replaced by their address, and removed", async () => {
    const store = await place()();
    expect(await store.list()).toEqual([]);
    expect(await store.add(device("b"))).toBe(true);
    expect(await store.add(device("a", { at: 2 }))).toBe(true);
    expect(await store.add(device("b", { auth: "new", at: 3 }))).toBe(true);
    expect(await store.list()).toEqual([device("a", { at: 2 }), device("b", { auth: "new", at: 3 })]);
    expect(await store.remove(device("a").endpoint)).toBe(true);
    expect(await store.remove(device("a").endpoint)).toBe(false);
    expect(await store.removeAll()).toBe(1);
    expect(await store.list()).toEqual([]);
  });

  test("there are so many devices, and one of them may still be replaced", async () => {
    const store = await place()();
    for (let i = 0; i < devicesMax; i += 1) expect(await store.add(device(`d${i}`, { at: i }))).toBe(true);
    expect(await store.add(device("more"))).toBe(false);
    expect(await store.add(device("d0", { auth: "new" }))).toBe(true);
    expect(await store.list()).toHaveLength(devicesMax);
  });
}
