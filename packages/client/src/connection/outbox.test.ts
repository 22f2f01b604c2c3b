import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { RoomEnvelope } from "../core/room-envelope.ts";
import { RoomError } from "../core/room-error.ts";
import { Outbox } from "./outbox.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const envelope = (id: string): RoomEnvelope => ({
  protocol: "mcpx/v0.1",
  id,
  ts: "2026-01-01T00:00:00Z",
  from: "alice",
  kind: "chat",
  payload: { text: id },
});
const receipt = (id: string, seq = 1) => ({ id, seq, at: "2026-01-01T00:00:00Z" });
const limited = new RoomError("rate_limited", "slowly", { retryAfterMs: 20 });

function connected(windowMax = 3) {
  const outbox = new Outbox({ max: 5, windowMax });
  const sent: string[] = [];
  outbox.connect((text) => sent.push(JSON.parse(text).id));
  return { outbox, sent };
}

test("what was not acknowledged goes out again on the next connection, in order, with the same ids", async () => {
  const outbox = new Outbox({ max: 5, windowMax: 3 });
  const results = ["a", "b", "c"].map((id) => outbox.publish(envelope(id)));
  const sent: string[] = [];
  outbox.connect((text) => sent.push(`1${JSON.parse(text).id}`));
  expect(outbox.acked("b", receipt("b"))?.id).toBe("b");
  outbox.disconnect();
  outbox.connect((text) => sent.push(`2${JSON.parse(text).id}`));
  expect(sent).toEqual(["1a", "1b", "1c", "2a", "2c"]);
  expect(await results[1]).toEqual(receipt("b"));
  expect(outbox.acked("b", receipt("b", 2)), "an old ack is no news").toBeUndefined();
});

test("so many are on the way at one time, the next when one is settled", () => {
  const { outbox, sent } = connected(2);
  for (const id of ["a", "b", "c", "d"]) void outbox.publish(envelope(id));
  expect(sent).toEqual(["a", "b"]);
  outbox.acked("a", receipt("a"));
  expect(sent).toEqual(["a", "b", "c"]);
});

test("a refusal for good rejects; one for the moment is obeyed, one at a time", async () => {
  const { outbox, sent } = connected();
  const refused = outbox.publish(envelope("a"));
  expect(outbox.refused("a", new RoomError("bad_chat", "no text", { code: 40013 }))).toBe(true);
  await expect(refused).rejects.toMatchObject({ reason: "bad_chat", code: 40013 });
  void outbox.publish(envelope("b"));
  void outbox.publish(envelope("c"));
  outbox.refused("b", limited);
  outbox.refused("c", limited);
  expect(sent).toEqual(["a", "b", "c"]);
  vi.advanceTimersByTime(25);
  expect(sent).toEqual(["a", "b", "c", "b"]);
  outbox.acked("b", receipt("b"));
  vi.advanceTimersByTime(25);
  expect(sent).toEqual(["a", "b", "c", "b", "c"]);
  expect(outbox.refused("unknown", limited)).toBe(false);
});

test("what has not gone out can be taken back; what means something only now dies with the connection", async () => {
  const outbox = new Outbox({ max: 2, windowMax: 1 });
  const waiting = outbox.publish(envelope("a"));
  expect(outbox.takeBack("a", new Error("changed my mind"))).toBe(true);
  await expect(waiting).rejects.toThrow("changed my mind");
  outbox.connect(() => {});
  const passing = outbox.publish(envelope("b"), { isPassing: true });
  expect(outbox.takeBack("b", new Error("too late"))).toBe(false);
  outbox.disconnect();
  await expect(passing).rejects.toMatchObject({ reason: "network" });
  expect(outbox.size).toBe(0);
});

test("[X0-4-3] an id that still waits is sent once for all who publish it; with another body it is refused", async () => {
  const { outbox, sent } = connected(1);
  for (const id of ["a", "b", "c"]) {
    const first = outbox.publish(envelope(id));
    const second = outbox.publish({ ...envelope(id), ts: "2026-01-01T00:00:01Z" });
    const other = outbox.publish({ ...envelope(id), payload: { text: "other" } });
    await expect(other).rejects.toMatchObject({ reason: "id_conflict" });
    outbox.acked(id, receipt(id));
    expect(await Promise.all([first, second])).toEqual([receipt(id), receipt(id)]);
  }
  expect(sent).toEqual(["a", "b", "c"]);
  expect(outbox.size).toBe(0);
});

test("it is bounded, and closed it rejects everything and ticks no more", async () => {
  const { outbox } = connected();
  const results = ["a", "b", "c", "d", "e"].map((id) => outbox.publish(envelope(id)));
  await expect(outbox.publish(envelope("f"))).rejects.toMatchObject({ reason: "outbox_full" });
  outbox.refused("a", limited);
  outbox.close(new RoomError("closed", "over"));
  for (const result of results) await expect(result).rejects.toMatchObject({ reason: "closed" });
  expect(vi.getTimerCount()).toBe(0);
});
