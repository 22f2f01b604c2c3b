import fc from "fast-check";
import { expect, test } from "vitest";
import { createCallFigures, noteCall, noteRefusal, shownFigures } from "./call-figures.ts";

const minuteMs = 60_000;
const began = Date.parse("2026-11-16T09:00:30Z");

interface Shown {
  minutes: { at: string; answered: number; failed: number; refused: number }[];
  calls: Record<string, { answered: number; failed: number }>;
  reasons: Record<string, number>;
}

const shown = (figures: ReturnType<typeof createCallFigures>, now: number) =>
  shownFigures(figures, now) as unknown as Shown;

test("calls are counted by server, by what became of them, and by minute", () => {
  const figures = createCallFigures(began);
  noteCall(figures, "oven", began, undefined);
  noteCall(figures, "oven", began + minuteMs, "timeout");
  noteCall(figures, "shop", began + minuteMs, undefined);
  noteRefusal(figures, began + minuteMs, "tool_unknown");
  const { minutes, calls, reasons } = shown(figures, began + 2 * minuteMs);
  expect(calls).toEqual({ oven: { answered: 1, failed: 1 }, shop: { answered: 1, failed: 0 } });
  expect(reasons).toEqual({ timeout: 1, tool_unknown: 1 });
  expect(minutes).toEqual([
    { at: "2026-11-16T09:00:00.000Z", answered: 1, failed: 0, refused: 0 },
    { at: "2026-11-16T09:01:00.000Z", answered: 1, failed: 1, refused: 1 },
    { at: "2026-11-16T09:02:00.000Z", answered: 0, failed: 0, refused: 0 },
  ]);
});

test("what is older than an hour counts by server only", () => {
  const figures = createCallFigures(began);
  noteCall(figures, "oven", began, undefined);
  const { minutes, calls } = shown(figures, began + 60 * minuteMs);
  expect(minutes).toHaveLength(60);
  expect(minutes.every(({ answered }) => answered === 0)).toBe(true);
  expect(calls).toEqual({ oven: { answered: 1, failed: 0 } });
  // The same place of the ring, an hour later, begins anew.
  noteCall(figures, "oven", began + 60 * minuteMs, undefined);
  expect(shown(figures, began + 60 * minuteMs).minutes.at(-1)?.answered).toBe(1);
});

test("in the first hour minutes and servers count the same, in whatever order the clock goes", () => {
  const call = fc.record({
    server: fc.constantFrom("a", "b", "c"),
    minute: fc.integer({ min: 0, max: 59 }),
    reason: fc.option(fc.constantFrom("timeout", "server_error"), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(call, { maxLength: 200 }), (made) => {
      const figures = createCallFigures(began);
      for (const { server, minute, reason } of made)
        noteCall(figures, server, began + minute * minuteMs, reason);
      const { minutes, calls } = shown(figures, began + 59 * minuteMs);
      const sum = (of: "answered" | "failed") => (total: number, one: { answered: number; failed: number }) =>
        total + one[of];
      for (const of of ["answered", "failed"] as const) {
        expect(minutes.reduce(sum(of), 0)).toBe(Object.values(calls).reduce(sum(of), 0));
      }
    }),
  );
});

test("whoever is called stays, and what was called in all never gets less", () => {
  const figures = createCallFigures(began);
  noteCall(figures, "busy", began, undefined);
  for (let i = 0; i < 3_000; i += 1) {
    noteCall(figures, `server ${i}`, began, "timeout");
    noteCall(figures, "busy", began, undefined);
  }
  expect(figures.byServer.size).toBe(1_000);
  expect(figures.byServer.get("busy")).toEqual({ answered: 3_001, failed: 0 });
  expect(shownFigures(figures, began).total).toEqual({ answered: 3_001, failed: 3_000 });
});

test("neither servers nor words that are made up fill the memory", () => {
  const figures = createCallFigures(began);
  for (let i = 0; i < 5_000; i += 1) noteCall(figures, `server ${i}`, began + i * minuteMs, `word ${i}`);
  expect(figures.byServer.size).toBe(1_000);
  expect(figures.reasons.size).toBeLessThanOrEqual(101);
  expect(figures.minutes.length).toBeLessThanOrEqual(60);
  expect(figures.reasons.get("other")).toBe(4_900);
});
