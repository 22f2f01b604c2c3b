import type { RoomEnvelope } from "@mcpx/client";
import { expect, test } from "vitest";
import type { Deck, Item } from "../store/deck.ts";
import { createTimeline } from "../store/timeline.ts";
import { createDigest } from "./digest.ts";

let count = 0;
function chat(text: string): RoomEnvelope {
  count += 1;
  const base = { protocol: "mcpx/v0.1", id: `e${count}`, ts: "", from: "anna", seq: count } as const;
  return { ...base, kind: "chat", payload: { text } };
}
const none: Deck = { waiting: [], settled: [] };
const waits = (...tools: string[]): Deck => ({
  waiting: tools.map((tool) => ({ who: "agent", tool }) as Item),
  settled: [],
});

test("what waits is told when its number changes, the newest by name", () => {
  const { next } = createDigest();
  expect(next(none, undefined, [])).toBe("");
  expect(next(waits("heat"), undefined, [])).toBe("1 waiting. Newest: agent asks to call heat.");
  expect(next(waits("heat"), undefined, [])).toBe("");
  expect(next(waits("heat", "melt"), undefined, [])).toContain("2 waiting. Newest: agent asks to call melt.");
  expect(next(none, undefined, [])).toBe("Nothing waits for you.");
});

test("one line is read out, many are counted, and what was there before is no news", () => {
  const { next } = createDigest();
  const timeline = createTimeline();
  timeline.append(chat("old"), 0);
  expect(next(none, "room", timeline.shown)).toBe("");
  timeline.append(chat("hello"), 0);
  expect(next(none, "room", timeline.shown)).toBe("anna: hello");
  expect(next(none, "room", timeline.shown)).toBe("");
  for (let i = 0; i < 5_000; i += 1) timeline.append(chat(`line ${i}`), 0);
  expect(next(none, "room", timeline.shown)).toBe("5,000 new lines in room, the last by anna.");
  // Another room is no news either.
  timeline.append(chat("more"), 0);
  expect(next(none, "other", timeline.shown)).toBe("");
});

test("a long line is cut, and nothing hides in it", () => {
  const { next } = createDigest();
  const timeline = createTimeline();
  next(none, "room", timeline.shown);
  timeline.append(chat(`\u202e${"x".repeat(10_000)}`), 0);
  expect(next(none, "room", timeline.shown)).toMatch(/^anna: U\+202Ex{199}$/);
});
