// Numbers of signed envelopes in an outbox whose gateway is the test: what goes out under which number.
import { judgeEnvelope } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { Outbox } from "../connection/outbox.ts";
import type { RoomEnvelope } from "../core/room-envelope.ts";
import { RoomError } from "../core/room-error.ts";
import { createKey } from "./create-key.ts";
import { RoomSigning } from "./room-signing.ts";

const chat = (id: string): RoomEnvelope => ({
  protocol: "mcpx/v0.1",
  id,
  ts: "2026-11-18T09:30:00.000Z",
  from: "alice",
  kind: "chat",
  payload: { text: id },
});

async function open() {
  const key = await createKey();
  const outbox = new Outbox({ max: 10, windowMax: 10, signing: new RoomSigning({ topic: "t", sign: key }) });
  const sent: string[] = [];
  outbox.connect((text) => sent.push(text));
  const told = () =>
    Promise.all(
      sent.map(async (text) => {
        const { state, id, link } = await judgeEnvelope(text, { topic: "t", keysOf: () => [key.jwk] });
        return [state, id, link?.n, link?.skipped];
      }),
    );
  return { outbox, sent, told };
}

const limited = () => new RoomError("rate_limited", "slow down", { retryAfterMs: 1 });

test("[X0-9-7] what a rate limit refused goes out under a new number, which says that the old one was skipped", async () => {
  const { outbox, sent, told } = await open();
  void outbox.publish(chat("a"));
  void outbox.publish(chat("b"));
  await expect.poll(() => sent.length).toBe(2);
  outbox.refused("a", limited());
  outbox.acked("b", { id: "b", seq: 1, at: "" });
  await expect.poll(() => sent.length).toBe(3);
  expect(await told()).toEqual([
    ["valid", "a", 1, undefined],
    ["valid", "b", 2, undefined],
    ["valid", "a", 3, [1]],
  ]);
});

test("[X0-9-7] what may have been published before the connection was lost keeps its number, and goes first", async () => {
  const { outbox, sent, told } = await open();
  for (const id of ["a", "b"]) void outbox.publish(chat(id));
  await expect.poll(() => sent.length).toBe(2);
  outbox.refused("a", limited());
  outbox.disconnect();
  outbox.connect((text) => sent.push(text));
  await expect.poll(() => sent.length).toBe(3);
  outbox.refused("b", limited());
  await expect.poll(() => sent.length).toBe(4);
  outbox.acked("b", { id: "b", seq: 1, at: "" });
  await expect.poll(() => sent.length).toBe(5);
  expect((await told()).slice(2)).toEqual([
    ["valid", "b", 2, undefined],
    ["valid", "b", 2, undefined],
    ["valid", "a", 3, [1]],
  ]);
});

test("[X0-9-7] what was taken back while it was being signed is skipped, with what it had said of others", async () => {
  const { outbox, sent, told } = await open();
  const gone = outbox.publish(chat("a"));
  expect(outbox.takeBack("a", new Error("never mind"))).toBe(true);
  await expect(gone).rejects.toThrow("never mind");
  void outbox.publish(chat("b"));
  await expect.poll(() => sent.length).toBe(1);
  const refused = outbox.publish(chat("c"));
  await expect.poll(() => sent.length).toBe(2);
  outbox.refused("b", limited());
  outbox.refused("c", new RoomError("privilege_violation", "no"));
  await expect(refused).rejects.toThrow("no");
  await expect.poll(() => sent.length).toBe(3);
  expect(await told()).toEqual([
    ["valid", "b", 2, [1]],
    ["valid", "c", 3, undefined],
    ["valid", "b", 4, [1, 2, 3]],
  ]);
});
