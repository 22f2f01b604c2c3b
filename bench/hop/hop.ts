// What a hop costs: the same call direct, through the least a hop can be, through ours and through others', in rounds
// that go around all of them, so that noise hits all alike.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isSmoke, sized } from "../sizes.ts";
import { benchCatalogue } from "./catalogue.ts";
import { type Field, type Leg, startField } from "./legs.ts";
import { type Load, startLoad } from "./load-process.ts";
import { measureLeg, memoryCalls, rssMbOf, topUp, warmUp } from "./measure-leg.ts";
import { installPeers } from "./peers.ts";
import { type Measured, report } from "./report.ts";

const rounds = sized(12, 1);
/** Peers cost several times as much, so fewer rounds tell; ours is compared with the least a hop can be in all. */
const roundsPerPeerRound = 3;
/** A machine too slow for all the rounds measures fewer, so that the whole stays within ten minutes. */
const lastRoundAfterMs = 500_000;

export async function benchHop(note: (line: string) => void): Promise<Record<string, unknown>> {
  // They come from the network, which a smoke test does without.
  if (!isSmoke) installPeers(note);
  const dir = mkdtempSync(join(tmpdir(), "mcpx-bench-hop-"));
  const clear = () => rmSync(dir, { recursive: true, force: true });
  process.once("exit", clear);
  const load = startLoad();
  note("hop: starting backends, hops and peers");
  let field: Field | undefined;
  try {
    field = await startField(dir);
    for (const [name, why] of Object.entries(field.skipped)) note(`hop: ${name} is left out: ${why}`);
    const measured = await measureAll(field.legs, load, note);
    note("hop: a catalogue of 10 000 tools");
    const catalogue = await benchCatalogue();
    return { ...report(measured, field.skipped), catalogue };
  } finally {
    load.end();
    await field?.stop();
    clear();
  }
}

async function measureAll(
  legs: readonly Leg[],
  load: Load,
  note: (line: string) => void,
): Promise<Measured[]> {
  const all: Measured[] = legs.map((leg) => ({
    leg,
    rounds: [],
    calls: 0,
    memory: undefined,
    failed: undefined,
  }));
  const turn = async (step: (one: Measured) => Promise<number>) => {
    for (const one of all) {
      if (one.failed !== undefined) continue;
      try {
        one.calls += await step(one);
        if (one.calls >= memoryCalls) one.memory ??= { rssMb: rssMbOf(one.leg), afterCalls: one.calls };
      } catch (error) {
        one.failed = String(error);
        note(`hop: ${one.leg.name} (${one.leg.era}) failed: ${one.failed}`);
        await load.close();
      }
    }
  };
  note("hop: warming up");
  await turn(({ leg }) => warmUp(leg, load));
  for (let round = 1; round <= rounds && performance.now() < lastRoundAfterMs; round += 1) {
    note(`hop: round ${round} of ${rounds}, ${all.length} ways`);
    const isPeerRound = round % roundsPerPeerRound === 1;
    await turn(async (one) => {
      const sitsOut = one.leg.isPeer && !isPeerRound;
      const figures = sitsOut ? undefined : await measureLeg(one.leg, load);
      one.rounds.push(figures);
      return figures?.calls ?? 0;
    });
  }
  note("hop: calls up to 10 000, for memory");
  await turn(({ leg, calls }) => topUp(leg, load, calls));
  for (const one of all) one.memory ??= { rssMb: rssMbOf(one.leg), afterCalls: one.calls };
  return all;
}
