import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openTreeState } from "../testing/open-tree-state.ts";
import { scratch } from "../testing/scratch.ts";
import { createSqlitePinStore, type PinNews, type SeenTool } from "./pin-store.ts";

const openAt = (path?: string) => createSqlitePinStore(openTreeState(path));

const seen = (tool: string, text = "{}", canonical = `s.${tool}`): SeenTool => ({
  tool,
  canonical,
  hash: `hash of ${text}`,
  text,
});

const news = (more: Partial<PinNews>): PinNews => ({
  first: [],
  changed: [],
  returned: [],
  renewed: [],
  ...more,
});

describe("pins", () => {
  test("what is first seen stays, whatever comes later", () => {
    const store = openAt();
    store.write("s", news({ first: [seen("a", "1"), seen("b", "2")] }), 10);
    store.write("s", news({ first: [seen("a", "other")] }), 20);
    expect(store.pinsOf("s")).toEqual(
      new Map([
        ["a", { hash: "hash of 1", changedHash: undefined, chars: 1 }],
        ["b", { hash: "hash of 2", changedHash: undefined, chars: 1 }],
      ]),
    );
    expect(store.changed()).toEqual([]);
    expect(store.change("s", "a")).toBeUndefined();
  });

  test("what is kept is counted by who registered it, changes that wait included", () => {
    const store = openAt();
    store.write("configured", news({ first: [seen("a", "x".repeat(100))] }), 10);
    store.write("s", news({ first: [seen("a", "1")] }), 10, "eve");
    store.write("t", news({ first: [seen("a", "22")] }), 10, "eve");
    store.write("u", news({ first: [seen("a", "333")] }), 10, "bob");
    expect(store.charsOf("eve")).toEqual({ ofPayer: 3, ofAll: 6 });
    store.write("t", news({ changed: [seen("a", "4444", "t.a")] }), 20, "eve");
    expect(store.charsOf("eve")).toEqual({ ofPayer: 7, ofAll: 10 });
    store.accept("t", "a", "hash of 4444");
    expect(store.charsOf("eve")).toEqual({ ofPayer: 5, ofAll: 8 });
    store.forget("s");
    expect(store.charsOf("eve")).toEqual({ ofPayer: 4, ofAll: 7 });
    expect(store.charsOf("nobody")).toEqual({ ofPayer: 0, ofAll: 7 });
  });

  test("servers do not see each other's", () => {
    const store = openAt();
    store.write("s", news({ first: [seen("a", "1")] }), 10);
    store.write("t", news({ first: [seen("a", "22")] }), 10);
    expect(store.pinsOf("t").get("a")?.hash).toBe("hash of 22");
    expect(store.pinsOf("u").size).toBe(0);
    store.write("t", news({ changed: [seen("a", "333", "t.a")] }), 20);
    expect(store.pinsOf("s").get("a")?.changedHash).toBeUndefined();
  });

  test("a change waits with both texts, the newest one counts", () => {
    const store = openAt();
    store.write("s", news({ first: [seen("b", "1"), seen("a", "1")] }), 10);
    store.write("s", news({ changed: [seen("b", "22")] }), 20);
    store.write("s", news({ changed: [seen("b", "333"), seen("a", "22")] }), 30);
    expect(store.changed()).toEqual([
      { server: "s", tool: "a", canonical: "s.a", hash: "hash of 22", since: 30 },
      { server: "s", tool: "b", canonical: "s.b", hash: "hash of 333", since: 30 },
    ]);
    expect(store.change("s", "b")).toEqual({ ...store.changed()[1], was: "1", now: "333" });
    expect(store.pinsOf("s").get("b")).toEqual({
      hash: "hash of 1",
      changedHash: "hash of 333",
      chars: 4,
    });
  });

  test("what returns to what it was waits no longer", () => {
    const store = openAt();
    store.write("s", news({ first: [seen("a", "1")] }), 10);
    store.write("s", news({ changed: [seen("a", "22")] }), 20);
    store.write("s", news({ returned: ["a"] }), 30);
    expect(store.changed()).toEqual([]);
    expect(store.pinsOf("s").get("a")).toEqual({ hash: "hash of 1", changedHash: undefined, chars: 1 });
  });

  test("what is renewed is the same pin with another text, and nothing of it waits", () => {
    const store = openAt();
    store.write("s", news({ first: [seen("a", "1")] }), 10);
    store.write("s", news({ changed: [seen("a", "22")] }), 20);
    store.write("s", news({ returned: ["a"], renewed: [seen("a", "4444"), seen("b", "1")] }), 30);
    expect(store.changed()).toEqual([]);
    expect(store.pinsOf("s")).toEqual(
      new Map([["a", { hash: "hash of 4444", changedHash: undefined, chars: 4 }]]),
    );
    store.write("s", news({ changed: [seen("a", "22")] }), 40);
    expect(store.change("s", "a")).toMatchObject({ was: "4444", now: "22" });
  });

  test("only the change that was looked at is accepted, and once", () => {
    const store = openAt();
    store.write("s", news({ first: [seen("a", "1")] }), 10);
    expect(store.accept("s", "a", "hash of 1")).toBe(false);
    store.write("s", news({ changed: [seen("a", "22")] }), 20);
    store.write("s", news({ changed: [seen("a", "333")] }), 30);
    expect(store.accept("s", "a", "hash of 22")).toBe(false);
    expect(store.accept("s", "a", "hash of 333")).toBe(true);
    expect(store.accept("s", "a", "hash of 333")).toBe(false);
    expect(store.pinsOf("s").get("a")).toEqual({ hash: "hash of 333", changedHash: undefined, chars: 3 });
    expect(store.changed()).toEqual([]);
  });

  test("what is forgotten is first seen again, and only of that server", () => {
    const store = openAt();
    store.write("s", news({ first: [seen("a", "1"), seen("b", "1")] }), 10);
    store.write("t", news({ first: [seen("a", "1")] }), 10);
    store.write("s", news({ changed: [seen("a", "22")] }), 20);
    expect(store.forget("s")).toBe(2);
    expect(store.changed()).toEqual([]);
    expect(store.change("s", "a")).toBeUndefined();
    expect(store.accept("s", "a", "hash of 22")).toBe(false);
    expect([store.pinsOf("s").size, store.pinsOf("t").size]).toEqual([0, 1]);
    expect(store.forget("s")).toBe(0);
    store.write("s", news({ first: [seen("a", "333")] }), 30);
    expect(store.pinsOf("s").get("a")?.hash).toBe("hash of 333");
  });

  test("names are any text", () => {
    const store = openAt();
    const names = ["__proto__", "", "constructor", "a'; DROP TABLE tool_pins; --", "ä\u0000b", "A", "a"];
    store.write("__proto__", news({ first: names.map((name, i) => seen(name, String(i))) }), 10);
    expect([...store.pinsOf("__proto__").keys()].sort()).toEqual([...names].sort());
  });

  test("outlive the store", () => {
    const path = join(scratch(), "state.db");
    openAt(path).write("s", news({ first: [seen("a", "1")] }), 10);
    expect(openAt(path).pinsOf("s").get("a")?.hash).toBe("hash of 1");
  });

  test("a write that fails leaves nothing of itself", () => {
    const store = openAt();
    const bad = { ...seen("b"), text: undefined as unknown as string };
    expect(() => store.write("s", news({ first: [seen("a"), bad] }), 10)).toThrow();
    expect(store.pinsOf("s").size).toBe(0);
  });
});
