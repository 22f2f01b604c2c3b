// One measurement under attack: the attackers in processes of their own, the honest ones in another, and the time until
// nobody notices anything any more.
import { setTimeout as sleep } from "node:timers/promises";
import type { AttackFigures, AttackOrder } from "./attacker.ts";
import type { TallyFigures } from "./attacks/tally.ts";
import type { Place, Window } from "./honest.ts";
import type { Gateway, Scene } from "./scene.ts";
import { startTold, type Told } from "./told.ts";
import type { TurnFigures } from "./turn-meter.ts";

/** Before the member's time counts, an attack has this long to reach its strength. */
export const rampMs = 500;
const settleMs = 300;
/** An attack has this long to be over for the others once it has ended. */
const recoveryMsMax = 20_000;
const quietEnoughMs = 5;

export type Orders = AttackOrder["attacks"];

/** The member, the guest and the server, in their places. */
export async function startHonest({ tokens }: Scene, { url }: Gateway): Promise<Told> {
  const honest = startTold(new URL("./honest.ts", import.meta.url));
  await honest.tell("open", { url, tokens } satisfies Place);
  return honest;
}

/** What an attack leaves behind must not be counted for its burner: how long until it is as quiet as before, ms. */
export async function untilQuiet(gateway: Gateway, honest: Told, quiet: Window): Promise<number> {
  const began = performance.now();
  while (!gateway.hasEnded() && performance.now() - began < recoveryMsMax) {
    // Who cannot come back yet is not at rest.
    const window = await honest.tell<Window>("measure", settleMs).catch(() => undefined);
    if (window !== undefined && window.p50Ms <= Math.max(quiet.p50Ms * 3, quietEnoughMs)) break;
  }
  return performance.now() - began;
}

export interface Under {
  /** Missing where the gateway did not survive it, or the member could not come back. */
  attack: Window | undefined;
  tallies: Record<string, TallyFigures>;
  attackCores: number;
  /** Turns of the gateway's event loop meanwhile, in CPU time. */
  turns: TurnFigures | undefined;
  /** Why nothing could be measured. */
  fault: string | undefined;
}

export async function underAttack(
  { tokens, devicePort }: Scene,
  gateway: Gateway,
  honest: Told,
  processes: readonly Orders[],
  ms: number,
): Promise<Under> {
  const target = { url: gateway.url, token: tokens.attacker, devicePort };
  const attackers = processes.map(() => startTold(new URL("./attacker.ts", import.meta.url)));
  try {
    await Promise.all(
      attackers.map((attacker, i) =>
        attacker.tell("begin", { target, attacks: processes[i] ?? [] } satisfies AttackOrder),
      ),
    );
    await sleep(rampMs);
    await gateway.turns();
    // Nobody comes back to a gateway that has ended: the honest ones need not try for long.
    const measured = await Promise.race([
      honest.tell<Window>("measure", ms).catch((error: Error) => error),
      gateway.ended.then(() => new Error("the gateway has ended")),
    ]);
    const turns = await gateway.turns();
    const figures = await Promise.all(attackers.map((attacker) => attacker.tell<AttackFigures>("figures")));
    const fault = gateway.hasEnded()
      ? `the gateway ended: ${gateway.lastWords().slice(-1_000)}`
      : measured instanceof Error
        ? measured.message
        : undefined;
    return {
      attack: measured instanceof Error || fault !== undefined ? undefined : measured,
      tallies: Object.assign({}, ...figures.map(({ tallies }) => tallies)),
      attackCores: figures.reduce((sum, { cores }) => sum + cores, 0),
      turns,
      fault,
    };
  } finally {
    await Promise.all(attackers.map((attacker) => attacker.end()));
  }
}
