import { defaultLimits, type McpxError } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { Batch, single, wholeOf } from "../delivery/batch.ts";
import { MemorySocket } from "./memory.ts";

function open(limits: Partial<typeof defaultLimits> = {}) {
  const room = { texts: [] as string[], faults: [] as string[], closed: 0 };
  const far = { texts: [] as string[], closed: [] as unknown[] };
  const socket = new MemorySocket({ ...defaultLimits, ...limits }, () => performance.now(), {
    text: (text) => void room.texts.push(text),
    fault: (error: McpxError) => void room.faults.push(error.code),
    closed: () => {
      room.closed += 1;
    },
  });
  socket.far.onmessage = ({ data }: { data: string }) => void far.texts.push(data);
  socket.far.onclose = (event: { code: number; reason: string }) => void far.closed.push(event);
  return { socket, room, far };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("[B-ROOM-1] what is written comes in order in the next turn, and is counted until then", async () => {
  const { socket, far } = open();
  const batch = new Batch(["a", "bé", "c"]);
  socket.write([wholeOf(batch), { batch, start: 1, end: 2 }]);
  expect(far.texts).toEqual([]);
  expect([socket.queuedEnvelopes, socket.queuedBytes]).toEqual([4, 8]);
  await turn();
  expect(far.texts).toEqual(["a", "bé", "c", "bé"]);
  expect([socket.queuedEnvelopes, socket.queuedBytes, socket.stalledMs()]).toEqual([0, 0, 0]);
});

test("[B-ROOM-1] whoever fills it waits until it is read", async () => {
  const { socket, far } = open({ queueEnvelopesMax: 4 });
  for (const text of "abc") socket.write(single(text));
  let isDrained = false;
  const drained = socket.drained().then(() => {
    isDrained = true;
  });
  await Promise.resolve();
  expect(isDrained).toBe(false);
  await drained;
  expect(far.texts).toEqual(["a", "b", "c"]);
});

test("[B-ROOM-1] frames that are no envelope are faults, as on a socket", () => {
  const { socket, room } = open({ envelopeBytesMax: 4 });
  const send = socket.far.send as (data: unknown) => void;
  for (const data of ["okay", "too long", "\ud800", new Uint8Array(1)]) send(data);
  expect(room.texts).toEqual(["okay"]);
  expect(room.faults).toEqual(["too_large", "bad_utf8", "not_text"]);
});

test("[B-ROOM-1] a paused room is sent nothing, then everything in order; too much ends the connection", async () => {
  const { socket, room, far } = open({ queueEnvelopesMax: 3 });
  socket.pause();
  for (const text of "abc") socket.far.send(text);
  expect(room.texts).toEqual([]);
  socket.resume();
  await turn();
  socket.far.send("d");
  expect(room.texts).toEqual(["a", "b", "c", "d"]);
  expect(far.closed).toEqual([]);
  socket.pause();
  for (const text of "efgh") socket.far.send(text);
  await turn();
  expect(far.closed).toEqual([{ code: 4508, reason: "too_slow" }]);
});

test("[B-ROOM-1] a close comes after what was written, once, with its code; nothing comes after it", async () => {
  const { socket, room, far } = open();
  socket.write(single("last"));
  socket.close(4403, "kicked");
  socket.write(single("lost"));
  socket.far.send("lost too");
  socket.close(4401, "again");
  await turn();
  expect(far.texts).toEqual(["last"]);
  expect(far.closed).toEqual([{ code: 4403, reason: "kicked" }]);
  expect([room.closed, room.texts]).toEqual([1, []]);
});

test("[B-ROOM-1] both ends can end it, at once or well", async () => {
  const left = open();
  left.socket.far.close();
  await turn();
  expect([left.room.closed, left.far.closed]).toEqual([1, [{ code: 1000, reason: "" }]]);
  const cut = open();
  cut.socket.write(single("never read"));
  cut.socket.destroy();
  expect([cut.room.closed, cut.far.closed]).toEqual([1, [{ code: 1006, reason: "" }]]);
  await turn();
  expect(cut.far.texts).toEqual([]);
});
