// How far one token slows everybody else: an honest member's time to ack alone, beside a process that only burns CPU,
// and under each attack of the table. Every attack has a gateway of its own, so a row is the same whatever ran before.
import { type ChildProcess, fork } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { AttackFigures, AttackOrder } from "./attacker.ts";
import type { Attack } from "./attacks/attack.ts";
import { attacks } from "./attacks/table.ts";
import type { TallyFigures } from "./attacks/tally.ts";
import type { Place, Window } from "./honest.ts";
import { goals, judge, type Row, tableOf } from "./report.ts";
import { type Gateway, makeScene, type Scene } from "./scene.ts";
import { startTold, type Told } from "./told.ts";

const secondsUnlessGiven = 4;
/** Beside an attack's; there are three of them for each attack. */
const quietShare = 0.5;
const warmUpMs = 1_500;
/** Before the member's time counts, an attack has this long to reach its strength. */
const rampMs = 500;
const settleMs = 300;
/** An attack has this long to be over for the others once it has ended. */
const recoveryMsMax = 20_000;
const quietEnoughMs = 5;
/** All attacks at once are divided among so many processes: the burners beside them are as many. */
const processesForAll = 2;

export async function benchFairness(note: (line: string) => void): Promise<Record<string, unknown>> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: { json: { type: "boolean" }, only: { type: "string" }, seconds: { type: "string" } },
  });
  const ms = Number(values.seconds ?? secondsUnlessGiven) * 1_000;
  const isAll = values.only === undefined || values.only.split(",").includes("all");
  const chosen = choose(values.only);
  const scene = await makeScene();
  const rows: Row[] = [];
  try {
    for (const attack of chosen) rows.push(await measure(scene, attack.name, [[attack]], ms, note));
    if (isAll) rows.push(await measure(scene, "all at once", divided(attacks, processesForAll), ms, note));
  } finally {
    scene.end();
  }
  const missed = rows.filter(({ missed }) => missed.length > 0);
  return {
    goals,
    rows,
    missed: missed.map(({ name, missed }) => `${name}: ${missed.join(", ")}`),
    table: tableOf(rows),
  };
}

function choose(only: string | undefined): readonly Attack[] {
  if (only === undefined) return attacks;
  const names = only.split(",").filter((name) => name !== "all");
  const unknown = names.find((name) => attacks.every((attack) => attack.name !== name));
  if (unknown !== undefined) {
    throw new Error(
      `no attack is called ${unknown}; there are all, ${attacks.map(({ name }) => name).join(", ")}`,
    );
  }
  return attacks.filter(({ name }) => names.includes(name));
}

function divided(all: readonly Attack[], parts: number): Attack[][] {
  return Array.from({ length: parts }, (_, part) => all.filter((_, i) => i % parts === part));
}

/** Quiet, burner, attack, burner: neighbours are compared, whatever else the machine does meanwhile. */
async function measure(
  scene: Scene,
  name: string,
  processes: readonly (readonly Attack[])[],
  ms: number,
  note: (line: string) => void,
): Promise<Row> {
  const gateway = await scene.start();
  const honest = startTold(new URL("./honest.ts", import.meta.url));
  try {
    await honest.tell("open", { url: gateway.url, tokens: scene.tokens } satisfies Place);
    await honest.tell("measure", warmUpMs);
    const quiet = await honest.tell<Window>("measure", ms * quietShare);
    const burners = processes.length;
    const before = await besideBurners(honest, burners, ms * quietShare);
    await sleep(settleMs);
    const rssQuietBytes = gateway.rssMaxBytes();
    const under = await underAttack(scene, gateway, honest, processes, ms);
    const rssBytes = gateway.rssMaxBytes();
    const recoveryMs = await untilQuiet(gateway, honest, quiet);
    const after = gateway.hasEnded() ? undefined : await besideBurners(honest, burners, ms * quietShare);
    const burner = after === undefined ? [before] : [before, after];
    const row = judge({ name, quiet, burner, ...under, recoveryMs, rssQuietBytes, rssBytes });
    note(tableOf([row]).split("\n").at(-1) ?? "");
    return row;
  } finally {
    await honest.end();
    await gateway.stop();
  }
}

/** What an attack leaves behind must not be counted for its burner: how long until it is as quiet as before, ms. */
async function untilQuiet(gateway: Gateway, honest: Told, quiet: Window): Promise<number> {
  const began = performance.now();
  while (!gateway.hasEnded() && performance.now() - began < recoveryMsMax) {
    const { p50Ms } = await honest.tell<Window>("measure", settleMs);
    if (p50Ms <= Math.max(quiet.p50Ms * 3, quietEnoughMs)) break;
  }
  return performance.now() - began;
}

async function besideBurners(honest: Told, count: number, ms: number): Promise<Window> {
  const burners: ChildProcess[] = Array.from({ length: count }, () =>
    fork(new URL("./burner.ts", import.meta.url), { execArgv: [] }),
  );
  try {
    await sleep(rampMs);
    return await honest.tell<Window>("measure", ms);
  } finally {
    for (const burner of burners) burner.kill("SIGKILL");
  }
}

interface Under {
  /** Missing where the gateway did not survive it. */
  attack: Window | undefined;
  tallies: Record<string, TallyFigures>;
  attackCores: number;
  lastWords: string | undefined;
}

async function underAttack(
  { tokens, devicePort }: Scene,
  gateway: Gateway,
  honest: Told,
  processes: readonly (readonly Attack[])[],
  ms: number,
): Promise<Under> {
  const target = { url: gateway.url, token: tokens.attacker, devicePort };
  const attackers = processes.map(() => startTold(new URL("./attacker.ts", import.meta.url)));
  try {
    await Promise.all(
      attackers.map((attacker, i) => {
        const names = (processes[i] ?? []).map(({ name }) => ({ name }));
        return attacker.tell("begin", { target, attacks: names } satisfies AttackOrder);
      }),
    );
    await sleep(rampMs);
    const attack = await honest.tell<Window>("measure", ms).catch(() => undefined);
    const figures = await Promise.all(attackers.map((attacker) => attacker.tell<AttackFigures>("figures")));
    const hasEnded = gateway.hasEnded();
    return {
      attack: hasEnded ? undefined : attack,
      tallies: Object.assign({}, ...figures.map(({ tallies }) => tallies)),
      attackCores: figures.reduce((sum, { cores }) => sum + cores, 0),
      lastWords: hasEnded ? gateway.lastWords().slice(-1_000) : undefined,
    };
  } finally {
    await Promise.all(attackers.map((attacker) => attacker.end()));
  }
}
