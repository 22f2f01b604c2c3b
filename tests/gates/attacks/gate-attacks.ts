// Attacks on the gate itself: its decisions again and again, those of others, all at once, and too many of them.
// [AX-11.3-5] [AX-11.3-8]
import { expect } from "vitest";
import type { Heard, Message } from "../../tree/support/ask.ts";
import { type Attack, type Scene, signed, textOf } from "./support/scene.ts";
import { reasonOf, waitingOf } from "./support/stage.ts";

const racers = 50;

const approve = async (scene: Scene, terms: Message = scene.terms) =>
  textOf(await scene.courier.confirm(terms.confirmation_id, scene.sign("approve", terms)));

const countOf = <T>(all: readonly T[], one: T) => all.filter((each) => each === one).length;

const decided: Attack[] = [
  {
    title:
      "[AX-11.3-5] brings a proof again that was used: confirmation_used, and a new gate for the same call",
    done: 1,
    isOver: true,
    before: async (scene) => expect(await approve(scene)).toBe("open is done"),
    async strike(scene) {
      const { thief, args, terms } = scene;
      await scene.refused(scene.sign(), "confirmation_used");
      // Heard once; then it is another call, and the old proof is not about it.
      expect(textOf(await thief.call("vault.open", args))).toBe("open is done");
      const next = waitingOf(await thief.call("vault.open", args));
      expect(next.confirmation_id).not.toBe(terms.confirmation_id);
      expect(reasonOf(await thief.confirm(next.confirmation_id, scene.sign()))).toBe("bad_proof");
      await scene.refused(scene.sign(), "confirmation_used");
    },
  },
  {
    title:
      "[AX-11.3-2] brings a proof to the tree beside: confirmation_unknown, or bad_proof for the same call there",
    async strike(scene) {
      const { stage, args, terms } = scene;
      const beside = await stage.agent({ sub: scene.thief.id }, stage.sibling);
      expect(reasonOf(await beside.confirm(terms.confirmation_id, scene.sign()))).toBe(
        "confirmation_unknown",
      );
      const there = waitingOf(await beside.call("vault.open", args));
      expect(reasonOf(await beside.confirm(there.confirmation_id, scene.sign()))).toBe("bad_proof");
      expect(reasonOf(await scene.thief.confirm(terms.confirmation_id, scene.sign("approve", there)))).toBe(
        "bad_proof",
      );
    },
  },
  {
    title: "[AX-11.3-8] confirms at hops that have no such gate: confirmation_unknown",
    async strike(scene) {
      const { thief, terms } = scene;
      const wrong = `${terms.confirmation_id.slice(0, -1)}${terms.confirmation_id.endsWith("A") ? "B" : "A"}`;
      for (const id of [wrong, terms.nonce, "x", "../gates", terms.confirmation_id.toLowerCase()]) {
        expect(reasonOf(await thief.confirm(id, scene.sign()))).toBe("confirmation_unknown");
      }
    },
  },
  {
    title: "[AX-11.3-5] is refused and brings an approval: confirmation_used, and hears why it was refused",
    isOver: true,
    async before(scene) {
      const proof = scene.sign("reject", scene.terms, "not on a Friday");
      await scene.courier.confirm(scene.terms.confirmation_id, proof);
    },
    async strike(scene) {
      await scene.refused(scene.sign(), "confirmation_used");
      await scene.refused(signed(scene.stage.keys.erin, scene.terms), "confirmation_used");
      expect(textOf(await scene.thief.call("vault.open", scene.args))).toContain("not on a Friday");
    },
  },
  {
    title: `[AX-11.3-5] ${racers} bring the same proof at once: one call`,
    done: 1,
    isOver: true,
    async strike({ stage, thief, terms, ...scene }) {
      const proof = scene.sign();
      const confirms = Array.from({ length: racers }, () => thief.confirm(terms.confirmation_id, proof));
      const reasons = (await Promise.all(confirms)).map((heard) => heard.message.error?.data?.reason);
      expect(countOf(reasons, undefined)).toBe(1);
      expect(countOf(reasons, "confirmation_used")).toBe(racers - 1);
    },
  },
  {
    title: `[AX-11.3-5] ${racers} bring as many good proofs of two people at once: one call`,
    done: 1,
    isOver: true,
    async strike({ stage, thief, terms }) {
      const { alice, erin } = stage.keys;
      const proofs = Array.from({ length: racers }, (_, i) =>
        signed(i % 2 === 0 ? alice : erin, terms, "approve", `copy ${i}`),
      );
      const heard = await Promise.all(proofs.map((proof) => thief.confirm(terms.confirmation_id, proof)));
      expect(
        countOf(
          heard.map(({ message }) => message.error),
          undefined,
        ),
      ).toBe(1);
    },
  },
  {
    title: "[AX-11.3-5] approval and rejection race: one of them counts",
    isOver: true,
    // Either is right; what must not be is both.
    async strike(scene) {
      const { thief, terms } = scene;
      const proofs = [scene.sign("reject"), scene.sign("approve")];
      const heard = await Promise.all(proofs.map((proof) => thief.confirm(terms.confirmation_id, proof)));
      const used = heard.filter((one) => one.message.error?.data?.reason === "confirmation_used");
      expect(used).toHaveLength(1);
      const isRejected = heard[0]?.message.error === undefined;
      expect(scene.done()).toHaveLength(isRejected ? 0 : 1);
    },
    done: "either",
  },
];

/** Somebody else, with the same rights. */
const rival = (scene: Scene) => scene.stage.agent({ sub: `rival-${scene.thief.id}` });

const ofOthers: Attack[] = [
  {
    title: "[AX-11.3-1] waits at the gate of another: confirmation_unknown, as for one that is not there",
    async strike(scene) {
      const { stage, terms } = scene;
      const other = await rival(scene);
      const wait = (confirmation_id: string, name: string) =>
        other.ask("tools/call", { name, arguments: { confirmation_id } });
      for (const name of new Set(["mcpax.wait", stage.named("mcpax.wait")])) {
        const known = await wait(terms.confirmation_id, name);
        expect(reasonOf(known)).toBe("confirmation_unknown");
        const unknown = await wait("A".repeat(32), name);
        const plain = ({ message }: Heard) => ({ ...message, id: 0 });
        expect(plain(known)).toEqual(plain(unknown));
      }
    },
  },
  {
    title: "[AX-11.3-1] makes the call of another: a gate of its own, and no word of the other's",
    async strike(scene) {
      const { args, terms } = scene;
      const other = await rival(scene);
      expect(waitingOf(await other.call("vault.open", args)).confirmation_id).not.toBe(terms.confirmation_id);
    },
  },
  {
    title: "[AX-11.3-1] has the call of another approved: hears nothing of it, and its own waits on",
    done: 1,
    isOver: true,
    async before(scene) {
      const other = await rival(scene);
      scene.kept.set("own", waitingOf(await other.call("vault.open", scene.args)));
      expect(await approve(scene)).toBe("open is done");
    },
    async strike(scene) {
      const other = await rival(scene);
      const still = waitingOf(await other.call("vault.open", scene.args));
      expect(still.confirmation_id).toBe(scene.kept.get("own").confirmation_id);
      expect(textOf(await scene.thief.call("vault.open", scene.args))).toBe("open is done");
    },
  },
  {
    title: "[AX-11.3-1] takes back, cancels and rejects the gate of another: it waits on",
    async strike(scene) {
      const { terms, stage } = scene;
      const { confirmation_id } = terms;
      const other = await rival(scene);
      for (const method of ["mcpax/withdraw", "mcpax/reject", "mcpax/cancel", "mcpax/deregister"]) {
        expect((await other.ask(method, { confirmation_id })).message.error?.code).toBe(-32_601);
      }
      const session = await other.session();
      const params = { requestId: confirmation_id, reason: "no" };
      await session.send(JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params }));
      const own = signed(stage.keys.narcissus, { ...terms, nonce: "A".repeat(32) }, "reject");
      expect(reasonOf(await other.confirm(confirmation_id, own))).toBe("bad_proof");
    },
  },
];

const tooMany: Attack[] = [
  {
    title:
      "[AX-11.3-5] brings wrong proofs without end: ten are bad_proof, then rate_limited, and the human decides still",
    async strike(scene) {
      const { thief, terms } = scene;
      const { confirmation_id } = terms;
      const attempts = Array.from({ length: 40 }, () => thief.confirm(confirmation_id, "nonsense"));
      const reasons = (await Promise.all(attempts)).map(reasonOf);
      expect(countOf(reasons, "bad_proof")).toBe(10);
      expect(countOf(reasons, "rate_limited")).toBe(30);
    },
  },
  {
    title:
      "[AX-11.3-1] makes calls without end: twenty wait, more are too_many_gates, and others wait as before",
    async strike(scene) {
      const { thief, args } = scene;
      const calls = Array.from({ length: 30 }, (_, n) => thief.call("vault.open", { ...args, n }));
      const heard = await Promise.all(calls);
      // One waits since before.
      expect(heard.filter(({ message }) => message.result !== undefined)).toHaveLength(19);
      expect(
        countOf(
          heard.map(({ message }) => message.error?.data?.reason),
          "too_many_gates",
        ),
      ).toBe(11);
      const other = await rival(scene);
      waitingOf(await other.call("vault.open", args));
    },
  },
  {
    title: "[AX-11.3-1] makes a call larger than anybody reads: too_large",
    async strike(scene) {
      const { thief, args } = scene;
      const heard = await thief.call("vault.open", { ...args, more: "x".repeat(4_200_000) });
      expect(reasonOf(heard)).toBe("too_large");
    },
  },
];

export const gateAttacks: readonly Attack[] = [...decided, ...ofOthers, ...tooMany];
