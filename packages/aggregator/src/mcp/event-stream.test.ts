import { createByteLedger } from "@mcpx/host";
import { expect, test } from "vitest";
import { createEventStream, readEventId } from "./event-stream.ts";

const limits = { mcpReplayEventsMax: 3, mcpReplayBytesMax: 1_000 };

const ledger = createByteLedger({ heldBytesMax: 1_000_000, heldBytesPerPrincipalMax: 100_000 });
const hold = (bytes: number) => ledger.hold({ key: "a" }, bytes);

function sink() {
  const written: string[] = [];
  const out = {
    isEnded: false,
    isBehind: false,
    waitingBytes: 0,
    write: (text: string) => written.push(text) > 0,
    end() {
      out.isEnded = true;
    },
    onDrain() {},
  };
  return { out, ids: () => [...written.join("").matchAll(/^id: (.*)$/gm)].map(([, id]) => id) };
}

test("what was sent before anybody listened is not lost", () => {
  const stream = createEventStream({ number: 4, isPrimed: false, limits, hold });
  stream.send({ a: 1 });
  const { out, ids } = sink();
  stream.attach(out, 0);
  stream.send({ a: 2 });
  stream.end();
  expect([ids(), out.isEnded]).toEqual([["4-1", "4-2"], true]);
});

test("who comes back gets what was missed, once, and goes on", () => {
  const stream = createEventStream({ number: 4, isPrimed: true, limits, hold });
  const first = sink();
  stream.attach(first.out, 0);
  stream.send({ a: 1 });
  stream.detach(first.out);
  stream.send({ a: 2 });
  const second = sink();
  stream.attach(second.out, 1);
  stream.send({ a: 3 });
  expect(first.ids()).toEqual(["4-0", "4-1"]);
  expect(second.ids()).toEqual(["4-1", "4-2", "4-3"]);
});

test("a second reader takes the place of the first", () => {
  const stream = createEventStream({ number: 0, isPrimed: false, limits, hold });
  const [first, second] = [sink(), sink()];
  stream.attach(first.out);
  stream.attach(second.out);
  stream.detach(first.out);
  stream.send({});
  expect([first.out.isEnded, first.ids(), second.ids()]).toEqual([true, [], ["0-1"]]);
});

test("what is kept is bounded by number and size; the newest stays, unless it is a notification too large to keep", () => {
  const stream = createEventStream({ number: 1, isPrimed: false, limits, hold });
  for (let i = 0; i < 10; i += 1) stream.send({ i });
  const some = sink();
  stream.attach(some.out, 0);
  expect(some.ids()).toEqual(["1-8", "1-9", "1-10"]);
  stream.send({ id: 1, result: "x".repeat(2_000) });
  const one = sink();
  stream.attach(one.out, 0);
  expect(one.ids()).toEqual(["1-11"]);
  stream.send({ method: "large", params: "x".repeat(2_000) });
  const another = sink();
  stream.attach(another.out, 0);
  expect(another.ids()).toEqual([]);
  const none = sink();
  stream.attach(none.out, 99);
  expect(none.ids()).toEqual([]);
});

test("what is kept counts for its principal; what has no room is said to be lost, and who forgets frees it", () => {
  const large = { mcpReplayEventsMax: 100, mcpReplayBytesMax: 1_000_000 };
  const streams = [1, 2].map((number) => createEventStream({ number, isPrimed: false, limits: large, hold }));
  const [first, second] = streams as [(typeof streams)[0], (typeof streams)[0]];
  first.send({ id: 1, result: "x".repeat(80_000) });
  expect(ledger.heldBytes).toBeGreaterThan(80_000);
  second.send({ id: 2, result: "y".repeat(80_000) });
  expect(ledger.heldBytes).toBeLessThan(100_000);
  const [kept, lost] = [first, second].map((stream) => {
    const written: string[] = [];
    const { out } = sink();
    stream.attach({ ...out, write: (text) => written.push(text) > 0 }, 0);
    return written.join("");
  });
  expect(kept).toContain("xxxx");
  expect(lost).toMatch(
    /^event: message\nid: 2-1\ndata: .*"id":2.*a message could not be kept for your return/,
  );
  first.forget();
  expect(ledger.heldBytes).toBe(0);
  first.send({ id: 3, result: "x".repeat(80_000) });
  expect(ledger.heldBytes).toBe(0);
  second.send({ id: 4, result: "y".repeat(80_000) });
  expect(ledger.heldBytes).toBeGreaterThan(80_000);
  second.forget();
});

test.each([
  ["3-17", { number: 3, position: 17 }],
  ["", undefined],
  ["3", undefined],
  ["-3-1", undefined],
  ["3-1 ", undefined],
  ["9999999999999999-1", undefined],
])("%j is read as %j", (id, expected) => {
  expect(readEventId(id)).toEqual(expected);
});
