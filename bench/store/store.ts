// The topic log on SQLite and on PostgreSQL, in turns on one disk: appends with so many in flight, acknowledgements at a
// steady rate, a page out of many and an envelope by its id; then gates and the audit chain.
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createPostgresTopicLog, createSqliteTopicLog, type NewEntry, type TopicLog } from "@mcpx/gateway";
import { startPostgres } from "../../tests/support/postgres-server.ts";
import { percentile } from "../rooms/load.ts";
import { sized } from "../sizes.ts";
import { type Engine, engines, inTurns, timed, waits, waitsOf } from "./engines.ts";
import { benchState } from "./state.ts";

const prefilled = sized(1_000_000, 500);
const turnMs = sized(2_000, 50);
const perSecond = 2_000;
const reads = sized(500, 10);
const pageSize = 100;
const goals = { appendsRatioAt256: 0.7, acksP99Ms: 25 };

type Logs = Record<Engine, TopicLog>;

const text = JSON.stringify({ kind: "chat", from: "ada", payload: { text: "x".repeat(290) } });

export async function benchStore(note: (line: string) => void): Promise<Record<string, unknown>> {
  const dir = mkdtempSync(join(tmpdir(), "mcpx-bench-store-"));
  // Files of the write-ahead log that are used again, as a server that has run for a while has them.
  await using server = await startPostgres({ min_wal_size: "1GB" });
  const logs: Logs = {
    sqlite: await createSqliteTopicLog({ path: join(dir, "topics.db") }),
    postgres: await createPostgresTopicLog({ url: server.url() }),
  };
  try {
    note(`store: ${prefilled} envelopes in each`);
    for (const engine of engines) await append(logs[engine], 256, prefilled);
    const [version] = await server.sql("SELECT current_setting('server_version') AS version");
    const appends: Record<string, unknown> = {};
    for (const inFlight of [1, 32, 256]) {
      note(`store: appends, ${inFlight} in flight`);
      appends[inFlight] = await measureAppends(logs, inFlight);
    }
    note(`store: acknowledgements at ${perSecond}/s`);
    const acks = await inTurns(logs, (log) => appendSteadily(log));
    note("store: pages and ids");
    const pages = await inTurns(logs, readPages);
    const found = await inTurns(logs, findIds);
    note("store: gates and the audit chain");
    return {
      postgres: version?.version,
      goals,
      appends,
      acksMs: waitsOf(acks),
      pageMs: waitsOf(pages),
      findMs: waitsOf(found),
      ...(await benchState(server, dir)),
    };
  } finally {
    await Promise.all(engines.map((engine) => logs[engine].close()));
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Ids are random, as those of clients are. */
function newEntry(): NewEntry {
  return { topic: "bench", id: randomUUID(), from: "ada", at: Date.now(), digest: "d".repeat(43), text };
}

/** So many, or for a turn where no number is given; how long each took. */
async function append(log: TopicLog, inFlight: number, total = Infinity): Promise<number[]> {
  const waits: number[] = [];
  const until = performance.now() + (total === Infinity ? turnMs : Infinity);
  let left = total;
  const one = async () => {
    while (left > 0 && performance.now() < until) {
      left -= 1;
      const began = performance.now();
      await log.append(newEntry());
      waits.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, one));
  return waits;
}

async function measureAppends(logs: Logs, inFlight: number) {
  const measured = await inTurns(logs, async (log) => {
    const began = performance.now();
    const waits = await append(log, inFlight);
    return { waits, perSecond: (1_000 * waits.length) / (performance.now() - began) };
  });
  const rates = (engine: Engine) => measured[engine].map((turn) => turn.perSecond);
  const of = (engine: Engine) => ({
    perSecond: Math.round(median(rates(engine))),
    ...waits(measured[engine].flatMap((turn) => turn.waits)),
  });
  const ratios = rates("postgres").map((rate, turn) => rate / (rates("sqlite")[turn] ?? Number.NaN));
  return { sqlite: of("sqlite"), postgres: of("postgres"), ratio: median(ratios) };
}

/** Sent when they are due, whether those before were acknowledged or not. */
async function appendSteadily(log: TopicLog): Promise<number[]> {
  const began = performance.now();
  const sent: Promise<number>[] = [];
  for (let n = 0; n < (perSecond * turnMs) / 1_000; n += 1) {
    const due = began + (n * 1_000) / perSecond;
    const wait = due - performance.now();
    if (wait > 0) await sleep(wait);
    const at = performance.now();
    sent.push(log.append(newEntry()).then(() => performance.now() - at));
  }
  return Promise.all(sent);
}

async function readPages(log: TopicLog): Promise<number[]> {
  const { last } = await log.bounds("bench");
  return timed(reads, async () => {
    const before = Math.ceil(Math.random() * (last - pageSize)) + pageSize;
    const page = await log.read("bench", { before, limit: pageSize, order: "newest_first" });
    if (page.length < pageSize - 1) throw new Error(`a page before ${before} has ${page.length} envelopes`);
  });
}

async function findIds(log: TopicLog): Promise<number[]> {
  const { last } = await log.bounds("bench");
  const after = Math.floor(Math.random() * (last - reads));
  const ids = (await log.read("bench", { after, limit: reads, order: "oldest_first" })).map(({ id }) => id);
  return timed(reads, async () => {
    const found = await log.find("bench", ids.pop() ?? "");
    if (found === undefined) throw new Error("an envelope is not found by its id");
  });
}

function median(values: number[]): number {
  return percentile(
    values.toSorted((a, b) => a - b),
    50,
  );
}
