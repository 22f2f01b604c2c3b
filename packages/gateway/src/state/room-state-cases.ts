// What every store of the rooms' state has to do, seen through what uses it.
import { generateKeyPairSync } from "node:crypto";
import type { PublicJwk } from "@mcpx/host";
import { describe, expect, test } from "vitest";
import { KnownParticipants } from "../room/known-participants.ts";
import { LevelDecisions } from "../room/level-decisions.ts";
import { countMade } from "../room/topic-makers.ts";
import { type RevocationBounds, RevokedCapabilities } from "../tool-access/revoked-capabilities.ts";
import type { DecidedLevel, RoomState } from "./room-state.ts";

interface OpenState {
  state: RoomState;
  /** The same store once more, as the next process has it. */
  open(): Promise<RoomState>;
}

const now = 1_800_000_000_000;

function listIn(state: RoomState, bounds?: Partial<RevocationBounds>): RevokedCapabilities {
  return new RevokedCapabilities(state.revoked, bounds);
}

type Revoking = [topic: string, issuer: string, ids: readonly string[], until: number, at: number];
const add = (list: RevokedCapabilities, ...[topic, issuer, ids, until, at]: Revoking) =>
  list.add({ topic, issuer, ids, until }, at);
const addForAdmin = (list: RevokedCapabilities, ...[topic, issuer, ids, until, at]: Revoking) =>
  list.addForAdmin({ topic, issuer, ids, until }, at);

const newKey = () =>
  generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" }) as unknown as PublicJwk;
const mismatch = expect.objectContaining({ code: "key_mismatch" });

/** Each call opens an empty one. */
export function roomStateCases(open: () => Promise<OpenState>): void {
  describe("decisions", () => {
    async function start() {
      const { state, open: again } = await open();
      const decisions = await LevelDecisions.open(state.decisions);
      const decide = (topic: string | undefined, level: DecidedLevel, id = "alice", at = 0) =>
        decisions.decide(id, topic, level, "admin", at);
      const reopened = async () => LevelDecisions.open((await again()).decisions);
      const find = async (topic: string, id = "alice") => {
        const found = decisions.find(id, topic);
        expect((await reopened()).find(id, topic)).toBe(found);
        return found;
      };
      return { decisions, decide, find, reopened };
    }

    test("[X1-5.1-3] hold for their topic, or for all", async () => {
      const { decide, find } = await start();
      await decide("a", "full");
      expect([await find("a"), await find("b")]).toEqual(["full", undefined]);
      await decide(undefined, "responder", "bob");
      expect([await find("a", "bob"), await find("b", "bob")]).toEqual(["responder", "responder"]);
    });

    test("[X1-5.1-3] are replaced by newer ones, whatever the clock says", async () => {
      const { decide, find } = await start();
      await decide("a", "full", "alice", 2_000);
      await decide("a", "restricted", "alice", 1_000);
      expect(await find("a")).toBe("restricted");
      await decide(undefined, "full");
      expect(await find("a")).toBe("full");
      await decide("a", "none");
      expect([await find("a"), await find("b")]).toEqual(["none", "full"]);
      await decide("b", "responder");
      await decide(undefined, "responder");
      expect([await find("a"), await find("b")]).toEqual(["responder", "responder"]);
    });

    test("leave one row for each scope, and one that cannot be stored does not count", async () => {
      const { state } = await open();
      const decisions = await LevelDecisions.open(state.decisions);
      for (const level of ["full", "none", "responder"] as const)
        await decisions.decide("a", "t", level, "x", 0);
      await decisions.decide("a", "u", "none", "x", 0);
      expect(await state.decisions.decisions()).toHaveLength(2);
      await decisions.decide("c", "t", "none", "x", 0);
      await decisions.decide("c", undefined, "full", "x", 0);
      expect(await state.decisions.decisions()).toHaveLength(3);
      await expect(decisions.decide("a", "t", null as never, "x", 0)).rejects.toThrow();
      expect(decisions.find("a", "t")).toBe("responder");
      expect([decisions.isAbout("a"), decisions.isAbout("b")]).toEqual([true, false]);
    });
  });

  describe("participants", () => {
    async function start() {
      const { state, open: again } = await open();
      const openKnown = async (max = 1_000) => KnownParticipants.open((await again()).participants, max);
      const participants = await KnownParticipants.open(state.participants, 1_000);
      return { participants, openKnown, reopened: () => openKnown() };
    }

    test("[X1-10.3-2] who was in a room is known at once, there and in general, and after a flush for good", async () => {
      const { participants, reopened } = await start();
      expect(await participants.wasSeen("alice", undefined)).toBe(false);
      participants.saw("room", "alice");
      const known = (from: KnownParticipants) =>
        Promise.all([
          from.wasSeen("alice", undefined),
          from.wasSeen("alice", "room"),
          from.wasSeen("alice", "other"),
          from.wasSeen("bob", "room"),
        ]);
      expect(await known(participants)).toEqual([true, true, false, false]);
      await participants.flush();
      expect(await known(participants)).toEqual([true, true, false, false]);
      participants.saw("room", "alice");
      await participants.flush();
      expect(await known(await reopened())).toEqual([true, true, false, false]);
    });

    test("a name with a line end in it cannot pass for another pair", async () => {
      const { participants } = await start();
      participants.saw("room", "a");
      expect(await participants.wasSeen("room\na", undefined)).toBe(false);
    });

    test("[X1-7.1-2] the first key stays, whoever asks later, until it is reset", async () => {
      const { participants, reopened } = await start();
      const key = newKey();
      await participants.bindKey("alice", key);
      await participants.bindKey("alice", { ...key });
      await expect(participants.bindKey("alice", newKey())).rejects.toThrow(mismatch);
      const later = await reopened();
      await expect(later.bindKey("alice", newKey())).rejects.toThrow(mismatch);
      await later.bindKey("alice", key);
      expect(await later.resetKey("alice")).toBe(true);
      expect(await later.resetKey("alice")).toBe(false);
      const next = newKey();
      await later.bindKey("alice", next);
      await expect(later.bindKey("alice", key)).rejects.toThrow(mismatch);
    });

    test("so many are remembered and no more; those that are stay, and a key that is reset is room for another", async () => {
      const { openKnown } = await start();
      const few = await openKnown(2);
      for (const id of ["a", "b", "c"]) few.saw("t", id);
      await few.flush();
      few.saw("t", "d");
      await few.flush();
      expect(await Promise.all(["a", "b", "c", "d"].map((id) => few.wasSeen(id, "t")))).toEqual([
        true,
        true,
        false,
        false,
      ]);
      const key = (x: string) => ({ kty: "OKP", crv: "Ed25519", x: x.repeat(43) }) as const;
      await few.bindKey("a", key("A"));
      await few.bindKey("b", key("B"));
      await few.bindKey("a", key("A"));
      await expect(few.bindKey("c", key("C"))).rejects.toThrow("no more than 2 keys");
      await expect(few.bindKey("b", key("C"))).rejects.toThrow("Another key is registered");
      expect(await few.resetKey("a")).toBe(true);
      await few.bindKey("c", key("C"));
      // Counted again after a restart.
      await expect((await openKnown(2)).bindKey("d", key("D"))).rejects.toThrow("no more than 2 keys");
    });
  });

  test("who has made which topic is known to the next process; of topics that are gone it does not count", async () => {
    const { state, open: again } = await open();
    const odd = "token:ä\u0000";
    for (const topic of ["a", "b", "gone"]) await state.topicMakers.made(topic, odd);
    await state.topicMakers.made("b", "another");
    const counts = await countMade((await again()).topicMakers, new Set(["a", "b", "c"]));
    expect(counts).toEqual(
      new Map([
        [odd, 1],
        ["another", 1],
      ]),
    );
  });

  describe("revoked capabilities", () => {
    test("[AC-6-4] what was revoked is, by this issuer, in this topic, until it is over", async () => {
      const list = listIn((await open()).state);
      await add(list, "kitchen", "oven", ["c1", "c2"], now + 1_000, now);
      expect(await list.has("kitchen", "oven", "c1", now)).toBe(true);
      expect(await list.has("kitchen", "oven", "c2", now + 999)).toBe(true);
      expect(await list.has("kitchen", "oven", "c2", now + 1_000)).toBe(false);
      expect(await list.has("kitchen", "oven", "c3", now)).toBe(false);
      expect(await list.has("kitchen", "mallory", "c1", now)).toBe(false);
      expect(await list.has("cellar", "oven", "c1", now)).toBe(false);
    });

    test("[AC-6-4] [AC-9-7] it is durable, and a shorter notice shortens nothing", async () => {
      const { state, open: again } = await open();
      await add(listIn(state), "kitchen", "oven", ["c1"], now + 5_000, now);
      await add(listIn(state), "kitchen", "oven", ["c1"], now + 1_000, now);
      expect(await listIn(await again()).has("kitchen", "oven", "c1", now + 4_000)).toBe(true);
    });

    test("[AC-6-4] full is full for whoever fills it, and what is over makes room", async () => {
      const list = listIn((await open()).state, { idsMax: 5, idsPerIssuerMax: 3 });
      await add(list, "kitchen", "oven", ["a", "b", "c"], now + 1_000, now);
      await expect(add(list, "kitchen", "oven", ["d"], now + 1_000, now)).rejects.toThrow(/list of revoked/);
      await add(list, "kitchen", "stove", ["a", "b"], now + 9_000, now);
      await expect(add(list, "kitchen", "fridge", ["a"], now + 1_000, now)).rejects.toThrow(
        /list of revoked/,
      );
      expect(await list.has("kitchen", "oven", "a", now)).toBe(true);
      await add(list, "kitchen", "fridge", ["a"], now + 9_000, now + 1_000);
      expect(await list.has("kitchen", "fridge", "a", now + 1_000)).toBe(true);
      expect(await list.has("kitchen", "stove", "b", now + 1_000)).toBe(true);
    });

    test("[AC-6-4] one issuer's share is the same in one topic and in ten, so others can always revoke", async () => {
      const list = listIn((await open()).state, { idsMax: 5, idsPerIssuerMax: 3 });
      await add(list, "kitchen", "mallory", ["a", "b"], now + 1_000, now);
      await add(list, "cellar", "mallory", ["a"], now + 1_000, now);
      await expect(add(list, "attic", "mallory", ["a"], now + 1_000, now)).rejects.toThrow(/list of revoked/);
      await add(list, "kitchen", "oven", ["a"], now + 1_000, now);
      expect(await list.has("kitchen", "oven", "a", now)).toBe(true);
    });

    test("[AC-9-3] [AC-6-4] an issuer that filled its share, and issuers that filled the list, stop no admin", async () => {
      const list = listIn((await open()).state, { idsMax: 20, idsPerIssuerMax: 9 });
      const ids = Array.from({ length: 9 }, (_, n) => `junk-${n}`);
      const until = now + 1_000;
      for (const issuer of ["mallory", "trudy"]) await add(list, "kitchen", issuer, ids, until, now);
      await expect(add(list, "kitchen", "mallory", ["more"], until, now)).rejects.toThrow(/list of revoked/);
      await expect(add(list, "kitchen", "oven", ["more"], until, now)).rejects.toThrow(/list of revoked/);
      await addForAdmin(list, "kitchen", "mallory", ["stolen"], until, now);
      await addForAdmin(list, "kitchen", "oven", ["stolen"], until, now);
      expect(await list.has("kitchen", "mallory", "stolen", now)).toBe(true);
      expect(await list.has("kitchen", "oven", "stolen", now)).toBe(true);
      // Control: the whole is bounded, for admins too.
      await expect(addForAdmin(list, "kitchen", "oven", ["another"], until, now)).rejects.toThrow(
        /list of revoked/,
      );
    });

    test("[AC-6-4] many are found among many, in bounded memory", async () => {
      const list = listIn((await open()).state);
      const ids = Array.from({ length: 2_000 }, (_, n) => `c${n}`);
      await add(list, "kitchen", "oven", ids, now + 1_000, now);
      const have = (all: readonly string[]) =>
        Promise.all(all.map((id) => list.has("kitchen", "oven", id, now)));
      expect(new Set(await have(ids))).toEqual(new Set([true]));
      expect(new Set(await have(ids.map((id) => `x${id}`)))).toEqual(new Set([false]));
      expect(list.bytes).toBeLessThanOrEqual(32 * 2 ** Math.ceil(Math.log2(ids.length)));
    });

    test("[AC-6-4] those that are taken back at once all count, each within its issuer's share", async () => {
      const { state, open: again } = await open();
      const list = listIn(state, { idsPerIssuerMax: 10 });
      const ids = Array.from({ length: 12 }, (_, n) => `c${n}\u0000`);
      const done = await Promise.allSettled(
        ids.map((id) => add(list, "kitchen", "oven", [id, id], now + 1_000, now)),
      );
      const kept = ids.filter((_, n) => done[n]?.status === "fulfilled");
      expect(kept).toHaveLength(9);
      for (const known of [list, listIn(await again())]) {
        const found = await Promise.all(ids.map((id) => known.has("kitchen", "oven", id, now)));
        expect(ids.filter((_, n) => found[n])).toEqual(kept);
      }
    });
  });
}
