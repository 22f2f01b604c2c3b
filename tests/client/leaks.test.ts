// What a room leaves behind: no timer, no listener, no socket.
import { getEventListeners } from "node:events";
import { afterEach, beforeEach, expect, test } from "vitest";
import { cuttable } from "./support/cuttable.ts";
import { join, nextEvent, rejection, startHouse, textOf } from "./support/house.ts";
import { kitchenV1 } from "./support/sdk-servers.ts";

// Every abort signal anybody listens to, so that their listeners can be counted afterwards.
const signals = new Set<AbortSignal>();
const { addEventListener } = EventTarget.prototype;
beforeEach(() => {
  EventTarget.prototype.addEventListener = function (this: EventTarget, ...args) {
    if (this instanceof AbortSignal) signals.add(this);
    return addEventListener.apply(this, args);
  };
});
afterEach(() => {
  EventTarget.prototype.addEventListener = addEventListener;
  signals.clear();
});

/** Node's fetch leaves its own on signals that nobody holds any more. */
const isOfFetch = (listener: unknown) => /acRef|locallyAborted/.test(String(listener));
const abortListeners = () =>
  [...signals].flatMap((signal) => getEventListeners(signal, "abort")).filter((one) => !isOfFetch(one))
    .length;
const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;

test("calls, proposals and loops leave no listener on any signal and no timer", async () => {
  const house = await startHouse();
  const oven = await join(house, "oven");
  await oven.serve(kitchenV1().server);
  const alice = await join(house, "alice");
  const abort = new AbortController();
  const batch = async () => {
    const peer = alice.peer("oven");
    const echoes = Array.from({ length: 50 }, (_, i) =>
      peer.callTool("echo", { text: `${i}` }, { signal: abort.signal, onProgress: () => {} }),
    );
    await Promise.all(echoes);
    await rejection(peer.callTool("wait", {}, { timeoutMs: 10, signal: abort.signal }));
    await rejection(peer.callTool("wait", {}, { signal: AbortSignal.abort(new Error("no")) }));
    await rejection(alice.peer("nobody").callTool("x", {}, { signal: abort.signal }));
    const { result, withdraw } = alice.propose({ method: "tools/call", params: { name: "echo" } });
    await withdraw();
    await rejection(result);
    for await (const _ of alice.events("envelope")) break;
  };
  const said = setInterval(() => oven.say("tick").catch(() => {}), 5);
  await batch();
  const before = { timers: timers(), listeners: abortListeners() };
  await batch();
  await batch();
  clearInterval(said);
  // The last cancellation may still be on its way to the server.
  await expect.poll(abortListeners).toBeLessThanOrEqual(before.listeners);
  await expect.poll(timers).toBeLessThanOrEqual(before.timers);
  expect(getEventListeners(abort.signal, "abort")).toEqual([]);
});

test("a closed room has no timer and no listener left, however it was used and whenever it was closed", async () => {
  const house = await startHouse();
  const oven = await join(house, "oven");
  const { server, release } = kitchenV1();
  await oven.serve(server);
  const before = { timers: timers(), listeners: abortListeners() };
  for (let i = 0; i < 10; i += 1) {
    const { WebSocket, cut } = cuttable();
    const room = await join(house, `guest-${i}`, { WebSocket });
    await room.serve(kitchenV1().server);
    expect(textOf(await room.peer("oven").callTool("echo", { text: "hi" }))).toBe("hi");
    const open = [
      rejection(room.peer("oven").callTool("wait")),
      rejection(room.propose({ method: "x/y", ttlMs: 60_000 }).result),
    ];
    if (i % 2 === 0) {
      const lost = nextEvent(room, "state");
      cut();
      await lost;
    }
    const unsent = i % 2 === 0 ? rejection(room.say("unsent")) : undefined;
    await room.close();
    for (const failed of await Promise.all(open)) expect(failed).toMatchObject({ reason: "closed" });
    if (unsent !== undefined) expect(await unsent).toMatchObject({ reason: "closed" });
  }
  // The oven still does what it was asked, and remembers for a moment who has left; give that up too.
  release();
  await oven.close();
  expect(timers()).toBeLessThanOrEqual(before.timers);
  expect(abortListeners()).toBeLessThanOrEqual(before.listeners);
});
