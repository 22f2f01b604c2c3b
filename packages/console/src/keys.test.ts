import { expect, test } from "vitest";
import { deedOf, type Situation } from "./keys.ts";
import type { Item } from "./store/deck.ts";

const item = (key: string, more: Partial<Item> = {}) =>
  ({ key, kind: "proposal", isPending: true, ...more }) as Item;
const [a, b, gate, done] = [
  item("a"),
  item("b"),
  item("g", { kind: "gate" }),
  item("d", { isPending: false }),
];
const situation: Situation = { items: [a, b, gate, done], current: "a", chosen: new Set() };
const press = (key: string, more: Partial<Situation> = {}, pressed = {}) =>
  deedOf({ key, hasCommand: false, isTyping: false, ...pressed }, { ...situation, ...more });

test("J and K move, and stay within", () => {
  expect(press("j")).toEqual({ type: "move", key: "b" });
  expect(press("k", { current: "b" })).toEqual({ type: "move", key: "a" });
  expect(press("k")).toEqual({ type: "move", key: "a" });
  expect(press("j", { current: "d" })).toEqual({ type: "move", key: "d" });
  expect(press("j", { current: undefined })).toEqual({ type: "move", key: "a" });
  expect(press("j", { items: [] })).toBeUndefined();
});

test("A, D and E are about the card one is at, or all chosen ones", () => {
  expect(press("a")).toEqual({ type: "approve", items: [a] });
  expect(press("D")).toEqual({ type: "reject", items: [a] });
  expect(press("e")).toEqual({ type: "edit", items: [a] });
  expect(press("x")).toEqual({ type: "choose", keys: ["a"] });
  const chosen = new Set(["b", "g", "d"]);
  expect(press("a", { chosen })).toEqual({ type: "approve", items: [b, gate] });
});

test("what is decided cannot be decided, and a gate cannot be edited", () => {
  expect(press("a", { current: "d" })).toBeUndefined();
  expect(press("e", { current: "g" })).toBeUndefined();
});

test("who types is left alone; the palette opens always", () => {
  expect(press("a", {}, { isTyping: true })).toBeUndefined();
  expect(press("k", {}, { isTyping: true, hasCommand: true })).toEqual({ type: "palette" });
  expect(press("a", {}, { hasCommand: true })).toBeUndefined();
  expect(press("?")).toEqual({ type: "help" });
});

test("Shift-X chooses whatever waits of the same tool, asked for by the same", () => {
  const same = { tool: "heat", who: "agent" };
  const items = [
    item("a", same),
    item("b", { tool: "heat", who: "another" }),
    item("c", same),
    item("d", { ...same, isPending: false }),
  ];
  expect(press("X", { items })).toEqual({ type: "choose", keys: ["a", "c"] });
});

test("Z takes back what is not sent yet, and is nobody's key otherwise", () => {
  expect(press("z")).toBeUndefined();
  expect(press("z", { isHeld: true })).toEqual({ type: "undo" });
});
