// What every store of bridges must do.
import { expect, test } from "vitest";
import { type BridgeStore, codesMax, messagesMax } from "./bridge-store.ts";

const bridge = "team";

export function bridgeStoreCases(createStore: () => BridgeStore | Promise<BridgeStore>): void {
  const code = (hash: string, more: object = {}) => ({
    hash,
    bridge,
    participant: "alice",
    expiresAt: 100,
    ...more,
  });
  const card = (id: string, more: object = {}) => ({
    ...{ id, bridge, channel: "general", proposal: `p-${id}`, seq: 1, expiresAt: 100 },
    ...more,
  });

  test("[X0-14.4-1] a code makes one link, in time, at its own bridge", async () => {
    const store = await createStore();
    await store.addCode(code("a", { level: "full" }), 0);
    expect(await store.redeem("other", "a", "u1", 1)).toBeUndefined();
    expect(await store.redeem(bridge, "b", "u1", 1)).toBeUndefined();
    expect(await store.redeem(bridge, "a", "u1", 1)).toMatchObject({
      participant: "alice",
      user: "u1",
      level: "full",
    });
    expect(await store.redeem(bridge, "a", "u2", 1)).toBeUndefined();
    await store.addCode(code("late"), 0);
    expect(await store.redeem(bridge, "late", "u1", 100)).toBeUndefined();
    expect(await store.linkOf(bridge, "u1")).toMatchObject({ participant: "alice" });
    expect(await store.linkOf("other", "u1")).toBeUndefined();
  });

  test("a person has one link: a newer one replaces it, and has another id", async () => {
    const store = await createStore();
    await store.addCode(code("a"), 0);
    await store.addCode(code("b", { participant: "carol" }), 0);
    const first = await store.redeem(bridge, "a", "u1", 1);
    const second = await store.redeem(bridge, "b", "u1", 2);
    expect(second?.id).not.toBe(first?.id);
    expect((await store.links(bridge)).map(({ participant }) => participant)).toEqual(["carol"]);
    expect((await store.unlink(bridge, "u1"))?.id).toBe(second?.id);
    expect(await store.unlink(bridge, "u1")).toBeUndefined();
    expect(await store.links(bridge)).toEqual([]);
  });

  test("codes that wait are bounded, and those that ended give way", async () => {
    const store = await createStore();
    for (let i = 0; i < codesMax; i += 1) expect(await store.addCode(code(`c${i}`), 0)).toBe(true);
    expect(await store.addCode(code("more"), 0)).toBe(false);
    expect(await store.addCode(code("elsewhere", { bridge: "other" }), 0)).toBe(true);
    expect(await store.addCode(code("later", { expiresAt: 200 }), 100)).toBe(true);
  });

  test("[B-BRIDGE-1] a card is claimed by one, until it is released, and never after it was closed", async () => {
    const store = await createStore();
    await store.cardFor(card("c1"));
    const claims = await Promise.all(["alice", "carol", "alice"].map((who) => store.claim("c1", who)));
    expect(claims).toEqual([true, false, false]);
    expect((await store.card("c1"))?.claimedBy).toBe("alice");
    await store.release("c1");
    expect(await store.claim("c1", "carol")).toBe(true);
    await store.release("c1");
    await store.closeCard("c1");
    expect(await store.claim("c1", "alice")).toBe(false);
    expect(await store.claim("unknown", "alice")).toBe(false);
  });

  test("a proposal has one card in a channel, however often it is asked for", async () => {
    const store = await createStore();
    const first = await store.cardFor(card("c1", { proposal: "p" }));
    await store.setRef("c1", "m1");
    expect(await store.cardFor(card("c2", { proposal: "p" }))).toEqual({ ...first, ref: "m1" });
    expect((await store.cardFor(card("c3", { proposal: "p", channel: "other" }))).id).toBe("c3");
    expect((await store.openCards(bridge, "general")).map(({ id }) => id)).toEqual(["c1"]);
    await store.closeCard("c1");
    expect(await store.openCards(bridge, "general")).toEqual([]);
  });

  test("positions are kept by bridge and channel", async () => {
    const store = await createStore();
    expect(await store.position(bridge, "general")).toBeUndefined();
    await store.setPosition(bridge, "general", { epoch: "e", seq: 1 });
    await store.setPosition(bridge, "general", { epoch: "e", seq: 2 });
    await store.setPosition("other", "general", { epoch: "f", seq: 9 });
    expect(await store.position(bridge, "general")).toEqual({ epoch: "e", seq: 2 });
    expect(await store.heard(bridge, "general")).toBeUndefined();
    await store.setHeard(bridge, "general", "m1");
    await store.setHeard(bridge, "general", "m2");
    await store.setHeard("other", "general", "m9");
    expect([await store.heard(bridge, "general"), await store.heard(bridge, "random")]).toEqual([
      "m2",
      undefined,
    ]);
    await store.removeBridge(bridge);
    expect([await store.heard(bridge, "general"), await store.heard("other", "general")]).toEqual([
      undefined,
      "m9",
    ]);
  });

  test("which message is which envelope is kept by bridge, channel and room, the newest of a channel", async () => {
    const store = await createStore();
    const place = { bridge, channel: "general", topic: "ops" };
    const first = { message: "m1", ref: "m1 root", envelope: "e1", answers: "e0" };
    await store.keepMessage(place, first);
    await store.keepMessage(place, { ...first, envelope: "another" });
    expect(await store.messageNamed(place, "m1")).toEqual(first);
    expect(await store.messageOf(place, "e1")).toEqual(first);
    expect(await store.messageOf(place, "another")).toBeUndefined();
    for (const other of [{ channel: "random" }, { topic: "secret" }, { bridge: "other" }]) {
      expect(await store.messageNamed({ ...place, ...other }, "m1")).toBeUndefined();
      expect(await store.messageOf({ ...place, ...other }, "e1")).toBeUndefined();
    }
    const random = { ...place, channel: "random" };
    await store.keepMessage(random, { message: "r1", ref: "r1", envelope: "e1" });
    for (let i = 2; i <= messagesMax; i += 1)
      await store.keepMessage(place, { message: `m${i}`, ref: `m${i}`, envelope: `e${i}` });
    expect(await store.messageNamed(place, "m1")).toEqual(first);
    await store.keepMessage(place, { message: "more", ref: "more", envelope: "e" });
    expect(await store.messageNamed(place, "m1")).toBeUndefined();
    expect((await store.messageNamed(place, "m2"))?.envelope).toBe("e2");
    expect((await store.messageNamed(random, "r1"))?.envelope).toBe("e1");
    await store.removeBridge(bridge);
    expect(await store.messageNamed(random, "r1")).toBeUndefined();
  });

  test("what ended long ago is forgotten, and a bridge that is removed as a whole", async () => {
    const store = await createStore();
    await store.cardFor(card("old"));
    await store.cardFor(card("young", { expiresAt: 300 }));
    await store.forget(200);
    expect([await store.card("old"), (await store.card("young"))?.id]).toEqual([undefined, "young"]);
    await store.addCode(code("a", { expiresAt: 900 }), 0);
    await store.redeem(bridge, "a", "u1", 1);
    await store.setPosition(bridge, "general", { epoch: "e", seq: 1 });
    await store.setPosition("other", "general", { epoch: "e", seq: 1 });
    await store.removeBridge(bridge);
    expect(await store.card("young")).toBeUndefined();
    expect(await store.links(bridge)).toEqual([]);
    expect(await store.position(bridge, "general")).toBeUndefined();
    expect(await store.position("other", "general")).toEqual({ epoch: "e", seq: 1 });
  });
}
