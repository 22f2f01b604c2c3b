// One attack, by an agent of its own, on a call of its own: what was asked before, what is tried, and the honest
// approval afterwards, which shows that nothing but the gate was in the way.
import type { TokenClaims } from "@mcpx/host";
import { type Decision, type GateTerms, statementOf } from "@mcpx/protocol";
import { expect } from "vitest";
import type { Heard, Message } from "../../../tree/support/ask.ts";
import { by, headerOf, jws, type Key } from "./keys.ts";
import { type Agent, reasonOf, type Stage, waitingOf } from "./stage.ts";

export interface Scene {
  readonly stage: Stage;
  /** 0 without a restart, 1 with one. */
  readonly row: 0 | 1;
  readonly thief: Agent;
  /** Stands in the arguments of this scene's calls and of no others. */
  readonly mark: string;
  readonly args: { box: string };
  /** Of the call that waits. */
  readonly terms: GateTerms & { approve_url: string };
  /** What `before` has found out. */
  readonly kept: Map<string, Message>;
  /** Somebody who only carries proofs. */
  readonly courier: Agent;
  /** The honest human's signature under a decision about this call, or another. */
  sign(decision?: Decision, terms?: GateTerms, reason?: string): string;
  /** What the thief brings is refused for this reason. */
  refused(proof: unknown, reason: string): Promise<void>;
  done(): string[];
}

export interface Attack {
  /** What the thief does, with the ledger's ids. */
  title: string;
  thief?: (stage: Stage) => Partial<TokenClaims>;
  /** Before the restart, where there is one. */
  before?: (scene: Scene) => Promise<void>;
  strike(scene: Scene): Promise<void>;
  /** How often the call has happened when the attack is over, in both rows or in each; 0 unless given. */
  done?: number | readonly [number, number] | "either";
  /** The honest approval afterwards is left out where the attack itself has ended the gate. */
  isOver?: boolean;
}

export async function openScene(
  stage: Stage,
  attack: Attack,
  { row, number }: { row: 0 | 1; number: number },
): Promise<Scene> {
  const mark = `box-${number}-of-row-${row}`;
  const args = { box: `${mark}.` };
  const claims = attack.thief?.(stage) ?? {};
  const thief = await stage.agent({ ...claims, sub: claims.sub ?? `thief-${number}-${row}` });
  const courier = await stage.agent({ sub: `courier-${number}-${row}` });
  const terms = waitingOf(await thief.call("vault.open", args));
  const scene: Scene = {
    stage,
    row,
    kept: new Map(),
    thief,
    mark,
    args,
    terms,
    courier,
    sign: (decision = "approve", about = terms, reason) => signed(stage.keys.alice, about, decision, reason),
    async refused(proof, reason) {
      expect(reasonOf(await thief.confirm(terms.confirmation_id, proof))).toBe(reason);
    },
    done: () => stage.done(args.box),
  };
  await attack.before?.(scene);
  return scene;
}

export function signed(key: Key, terms: GateTerms, decision: Decision = "approve", reason?: string): string {
  return jws(headerOf(key), { ...statementOf(terms, decision, reason) }, by(key));
}

export async function play(scene: Scene, attack: Attack): Promise<void> {
  const { done: expected = 0, isOver = false } = attack;
  await attack.strike(scene);
  const done = scene.done().length;
  // Where either is right, the attack has looked itself.
  if (expected !== "either") {
    expect(done, scene.done().join("\n")).toBe(typeof expected === "number" ? expected : expected[scene.row]);
  }
  if (isOver) return;
  // The control: the same call, and the human's word.
  const { terms, courier, thief, args } = scene;
  const proof = scene.sign();
  expect(textOf(await courier.confirm(terms.confirmation_id, proof))).toBe("open is done");
  expect(scene.done()).toHaveLength(done + 1);
  expect(textOf(await thief.call("vault.open", args))).toBe("open is done");
  expect(reasonOf(await thief.confirm(terms.confirmation_id, proof))).toBe("confirmation_used");
  expect(scene.done()).toHaveLength(done + 1);
}

export function textOf({ message }: Heard): unknown {
  return message?.result?.content?.[0]?.text ?? message;
}
