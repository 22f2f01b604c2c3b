// What every store of pins has to do.
import { expect, test } from "vitest";
import type { PinNews, PinStore, SeenTool } from "./pin-store.ts";

export const seen = (tool: string, text = "{}", canonical = `s.${tool}`): SeenTool => ({
  tool,
  canonical,
  hash: `hash of ${text}`,
  text,
});

export const news = (more: Partial<PinNews>): PinNews => ({
  first: [],
  changed: [],
  returned: [],
  renewed: [],
  ...more,
});

/** Each call opens an empty one. */
export function pinStoreCases(open: () => PinStore | Promise<PinStore>): void {
  test("what is first seen stays, whatever comes later", async () => {
    const store = await open();
    await store.write("s", news({ first: [seen("a", "1"), seen("b", "2")] }), 10);
    await store.write("s", news({ first: [seen("a", "other")] }), 20);
    expect(await store.pinsOf("s")).toEqual(
      new Map([
        ["a", { hash: "hash of 1", changedHash: undefined, chars: 1 }],
        ["b", { hash: "hash of 2", changedHash: undefined, chars: 1 }],
      ]),
    );
    expect(await store.changed()).toEqual([]);
    expect(await store.change("s", "a")).toBeUndefined();
  });

  test("what is kept is counted by who registered it, changes that wait included", async () => {
    const store = await open();
    await store.write("configured", news({ first: [seen("a", "x".repeat(100))] }), 10);
    await store.write("s", news({ first: [seen("a", "1")] }), 10, "eve");
    await store.write("t", news({ first: [seen("a", "22")] }), 10, "eve");
    await store.write("u", news({ first: [seen("a", "333")] }), 10, "bob");
    expect(await store.charsOf("eve")).toEqual({ ofPayer: 3, ofAll: 6 });
    await store.write("t", news({ changed: [seen("a", "4444", "t.a")] }), 20, "eve");
    expect(await store.charsOf("eve")).toEqual({ ofPayer: 7, ofAll: 10 });
    await store.accept("t", "a", "hash of 4444");
    expect(await store.charsOf("eve")).toEqual({ ofPayer: 5, ofAll: 8 });
    await store.forget("s");
    expect(await store.charsOf("eve")).toEqual({ ofPayer: 4, ofAll: 7 });
    expect(await store.charsOf("nobody")).toEqual({ ofPayer: 0, ofAll: 7 });
  });

  test("servers do not see each other's", async () => {
    const store = await open();
    await store.write("s", news({ first: [seen("a", "1")] }), 10);
    await store.write("t", news({ first: [seen("a", "22")] }), 10);
    expect((await store.pinsOf("t")).get("a")?.hash).toBe("hash of 22");
    expect((await store.pinsOf("u")).size).toBe(0);
    await store.write("t", news({ changed: [seen("a", "333", "t.a")] }), 20);
    expect((await store.pinsOf("s")).get("a")?.changedHash).toBeUndefined();
  });

  test("a change waits with both texts, the newest one counts", async () => {
    const store = await open();
    await store.write("s", news({ first: [seen("b", "1"), seen("a", "1")] }), 10);
    await store.write("s", news({ changed: [seen("b", "22")] }), 20);
    await store.write("s", news({ changed: [seen("b", "333"), seen("a", "22")] }), 30);
    expect(await store.changed()).toEqual([
      { server: "s", tool: "a", canonical: "s.a", hash: "hash of 22", since: 30 },
      { server: "s", tool: "b", canonical: "s.b", hash: "hash of 333", since: 30 },
    ]);
    expect(await store.change("s", "b")).toEqual({ ...(await store.changed())[1], was: "1", now: "333" });
    expect((await store.pinsOf("s")).get("b")).toEqual({
      hash: "hash of 1",
      changedHash: "hash of 333",
      chars: 4,
    });
  });

  test("what returns to what it was waits no longer", async () => {
    const store = await open();
    await store.write("s", news({ first: [seen("a", "1")] }), 10);
    await store.write("s", news({ changed: [seen("a", "22")] }), 20);
    await store.write("s", news({ returned: ["a"] }), 30);
    expect(await store.changed()).toEqual([]);
    expect((await store.pinsOf("s")).get("a")).toEqual({
      hash: "hash of 1",
      changedHash: undefined,
      chars: 1,
    });
  });

  test("what is renewed is the same pin with another text, and nothing of it waits", async () => {
    const store = await open();
    await store.write("s", news({ first: [seen("a", "1")] }), 10);
    await store.write("s", news({ changed: [seen("a", "22")] }), 20);
    await store.write("s", news({ returned: ["a"], renewed: [seen("a", "4444"), seen("b", "1")] }), 30);
    expect(await store.changed()).toEqual([]);
    expect(await store.pinsOf("s")).toEqual(
      new Map([["a", { hash: "hash of 4444", changedHash: undefined, chars: 4 }]]),
    );
    await store.write("s", news({ changed: [seen("a", "22")] }), 40);
    expect(await store.change("s", "a")).toMatchObject({ was: "4444", now: "22" });
  });

  test("only the change that was looked at is accepted, and once", async () => {
    const store = await open();
    await store.write("s", news({ first: [seen("a", "1")] }), 10);
    expect(await store.accept("s", "a", "hash of 1")).toBe(false);
    await store.write("s", news({ changed: [seen("a", "22")] }), 20);
    await store.write("s", news({ changed: [seen("a", "333")] }), 30);
    expect(await store.accept("s", "a", "hash of 22")).toBe(false);
    expect(await store.accept("s", "a", "hash of 333")).toBe(true);
    expect(await store.accept("s", "a", "hash of 333")).toBe(false);
    expect((await store.pinsOf("s")).get("a")).toEqual({
      hash: "hash of 333",
      changedHash: undefined,
      chars: 3,
    });
    expect(await store.changed()).toEqual([]);
  });

  test("what is forgotten is first seen again, and only of that server", async () => {
    const store = await open();
    await store.write("s", news({ first: [seen("a", "1"), seen("b", "1")] }), 10);
    await store.write("t", news({ first: [seen("a", "1")] }), 10);
    await store.write("s", news({ changed: [seen("a", "22")] }), 20);
    expect(await store.forget("s")).toBe(2);
    expect(await store.changed()).toEqual([]);
    expect(await store.change("s", "a")).toBeUndefined();
    expect(await store.accept("s", "a", "hash of 22")).toBe(false);
    expect([(await store.pinsOf("s")).size, (await store.pinsOf("t")).size]).toEqual([0, 1]);
    expect(await store.forget("s")).toBe(0);
    await store.write("s", news({ first: [seen("a", "333")] }), 30);
    expect((await store.pinsOf("s")).get("a")?.hash).toBe("hash of 333");
  });

  test("names are any text", async () => {
    const store = await open();
    const names = ["__proto__", "", "constructor", "a'; DROP TABLE tool_pins; --", "ä\u0000b", "A", "a"];
    await store.write("__proto__", news({ first: names.map((name, i) => seen(name, String(i))) }), 10);
    expect([...(await store.pinsOf("__proto__")).keys()].sort()).toEqual([...names].sort());
  });

  test("a write that fails leaves nothing of itself", async () => {
    const store = await open();
    const bad = { ...seen("b"), text: undefined as unknown as string };
    await expect(store.write("s", news({ first: [seen("a"), bad] }), 10)).rejects.toThrow();
    expect((await store.pinsOf("s")).size).toBe(0);
  });

  test("texts of any characters come back", async () => {
    const store = await open();
    const text = '{"s":"é 😀 \\u0000 \'"}';
    await store.write("s", news({ first: [seen("a", text)] }), 10);
    await store.write("s", news({ changed: [seen("a", `${text}2`)] }), 20);
    expect(await store.change("s", "a")).toMatchObject({ was: text, now: `${text}2` });
  });
}
