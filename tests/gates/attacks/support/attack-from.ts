// All attacks on one stage: as they are, and with the gate's process ended and started again after the calls were made.
import { afterAll, beforeAll, describe, test } from "vitest";
import { callAttacks } from "../call-attacks.ts";
import { gateAttacks } from "../gate-attacks.ts";
import { operatorAttacks } from "../operator-attacks.ts";
import { proofAttacks } from "../proof-attacks.ts";
import { type Attack, openScene, play, type Scene } from "./scene.ts";
import { type Cell, openStage, type Stage } from "./stage.ts";

const attacks: readonly Attack[] = [...proofAttacks, ...callAttacks, ...gateAttacks, ...operatorAttacks];

export function attackFrom(cell: Cell): void {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage(cell);
  });
  afterAll(() => stage.stop());

  describe.each([
    { when: "at once", row: 0, hasRestart: false },
    { when: "after a restart of the gate", row: 1, hasRestart: true },
  ] as const)(`a gate ${cell}, $when`, ({ row, hasRestart }) => {
    const scenes: Scene[] = [];
    beforeAll(async () => {
      for (const [number, attack] of attacks.entries()) {
        scenes.push(await openScene(stage, attack, { row, number }));
      }
      if (hasRestart) await stage.restart();
    }, 60_000);

    for (const [index, attack] of attacks.entries()) {
      test(attack.title, () => play(scenes[index] as Scene, attack));
    }
  });
}
