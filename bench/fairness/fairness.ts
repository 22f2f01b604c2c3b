// `npm run bench -- fairness [--json] [--only NAME,…] [--seconds N]`; the names are those of attacks/table.ts, and `all`.
// How far one token slows everybody else: an honest member's time to ack alone, beside a process that only burns CPU,
// and under each attack of the table. Every attack has a gateway of its own, so a row is the same whatever ran before.
import { type ChildProcess, fork } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { isSmoke, sized } from "../sizes.ts";
import type { Attack } from "./attacks/attack.ts";
import { attacks } from "./attacks/table.ts";
import type { Window } from "./honest.ts";
import { goals, judge, type Row, tableOf } from "./report.ts";
import { makeScene, type Scene } from "./scene.ts";
import type { Told } from "./told.ts";
import { type Orders, rampMs, startHonest, underAttack, untilQuiet } from "./under-attack.ts";

const secondsUnlessGiven = sized(4, 0.5);
/** Beside an attack's; there are three of them for each attack. */
const quietShare = 0.5;
const warmUpMs = sized(1_500, 200);
/** All attacks at once are divided among so many processes: the burners beside them are as many. */
const processesForAll = 2;

export async function benchFairness(note: (line: string) => void): Promise<Record<string, unknown>> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: {
      json: { type: "boolean" },
      smoke: { type: "boolean" },
      only: { type: "string", ...(isSmoke && { default: "history-32" }) },
      seconds: { type: "string" },
    },
  });
  const ms = Number(values.seconds ?? secondsUnlessGiven) * 1_000;
  const isAll = values.only === undefined || values.only.split(",").includes("all");
  const chosen = choose(values.only);
  const scene = await makeScene();
  const rows: Row[] = [];
  try {
    for (const attack of chosen)
      rows.push(await measure(scene, attack.name, [[{ name: attack.name }]], ms, note));
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

function divided(all: readonly Attack[], parts: number): Orders[] {
  return Array.from({ length: parts }, (_, part) =>
    all.filter((_, i) => i % parts === part).map(({ name }) => ({ name })),
  );
}

/** Quiet, burner, attack, burner: neighbours are compared, whatever else the machine does meanwhile. */
async function measure(
  scene: Scene,
  name: string,
  processes: readonly Orders[],
  ms: number,
  note: (line: string) => void,
): Promise<Row> {
  const gateway = await scene.start();
  const honest = await startHonest(scene, gateway);
  try {
    await honest.tell("measure", warmUpMs);
    const quiet = await honest.tell<Window>("measure", ms * quietShare);
    const burners = processes.length;
    const before = await besideBurners(honest, burners, ms * quietShare);
    const rssQuietBytes = gateway.rssMaxBytes();
    const under = await underAttack(scene, gateway, honest, processes, ms);
    const rssBytes = gateway.rssMaxBytes();
    const recoveryMs = await untilQuiet(gateway, honest, quiet);
    const after = await besideBurners(honest, burners, ms * quietShare).catch(() => undefined);
    const burner = after === undefined ? [before] : [before, after];
    const row = judge({ name, quiet, burner, ...under, recoveryMs, rssQuietBytes, rssBytes });
    note(tableOf([row]).split("\n").at(-1) ?? "");
    return row;
  } finally {
    await honest.end();
    await gateway.stop();
  }
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
