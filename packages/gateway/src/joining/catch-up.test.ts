import { setImmediate } from "node:timers/promises";
import { createManualClock, createMetrics } from "@mcpx/host";
import { defaultLimits } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { enqueue } from "../delivery/deliver.ts";
import { createGatewayMetrics } from "../room/gateway-metrics.ts";
import type { Gateway } from "../room/gateway-state.ts";
import { createRoom, type Member } from "../room/room.ts";
import { createMemoryTopicLog } from "../topic-log/memory.ts";
import { MemorySocket } from "../transports/memory.ts";
import { catchUp } from "./catch-up.ts";

const clock = createManualClock();
const metrics = createGatewayMetrics(createMetrics());
const gateway = { clock, limits: defaultLimits, metrics } as Partial<Gateway> as Gateway;

/** Alice's own socket, which has seen nothing yet of a room where bob has spoken, and then one of hers. */
async function behind() {
  const log = createMemoryTopicLog();
  const said = ["bob", "alice"].map((from, index) => {
    const id = `e${index + 1}`;
    const text = JSON.stringify({ protocol: "mcpx/v0.1", id, from, kind: "chat", payload: { text: id } });
    return { topic: "room", id, from, at: 1, digest: "", text };
  });
  for (const entry of said) await log.append(entry);
  const room = createRoom("room", log, true, 0);
  const socket = new MemorySocket(defaultLimits, clock.monotonic, {
    text: () => {},
    fault: () => {},
    closed: () => {},
  });
  const heard: string[] = [];
  socket.far.onmessage = ({ data }: { data: string }) => {
    const { id, payload } = JSON.parse(data);
    heard.push(payload.event === "ack" ? `ack ${payload.id}` : id);
  };
  const participant = { id: "alice" };
  const member = {
    room,
    key: "alice",
    participant,
    socket,
    protocol: "mcpx/v0.1",
    position: 0,
  } as Partial<Member> as Member;
  room.members.set(member.key, member);
  const handOn = (index: number, by: string) =>
    enqueue(gateway, room, { ...(said[index] as (typeof said)[number]), seq: index + 1, by });
  return { room, member, heard, handOn };
}

test.each([
  ["a virtual connection", "alice#1", "e2"],
  ["the socket before it", "alice", "ack e2"],
])(
  "[B-ROOM-1] what %s said is given as what it is, also where it is committed before it is handed on",
  async (_who, by, expected) => {
    const { room, member, heard, handOn } = await behind();
    // It comes back now: the first was handed to all, the second is on disk and its commit not yet heard of.
    room.deliveredSeq = 1;
    await catchUp(gateway, member);
    expect(member).toMatchObject({ position: 1, isCatchingUp: false });
    handOn(1, by);
    await setImmediate();
    await setImmediate();
    expect(heard).toEqual(["e1", expected]);
  },
);
