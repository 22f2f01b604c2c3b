// What stands beside the topic log, on both engines in turns: one of many consumes a gate, and a record of the audit
// chain is on the disk.
import { join } from "node:path";
import {
  createPostgresTreeStores,
  openSqliteTreeStores,
  type TreeStores,
  treeOnPostgres,
} from "@mcpx/aggregator";
import {
  type Audit,
  createAudit,
  createLogger,
  createPostgresAuditStore,
  createSqliteAuditStore,
  hostOnPostgres,
  migratePostgres,
  openPostgresSession,
  openState,
  readPostgresAddress,
  systemClock,
} from "@mcpx/host";
import { cautious } from "@mcpx/protocol";
import type { PostgresServer } from "../../tests/support/postgres-server.ts";
import { sized } from "../sizes.ts";
import { type Engine, inTurns, timed, waitsOf } from "./engines.ts";

const gatesPerTurn = sized(200, 5);
const recordsPerTurn = sized(500, 10);

export async function benchState(server: PostgresServer, dir: string): Promise<Record<string, unknown>> {
  const address = readPostgresAddress(server.url());
  await migratePostgres(address, hostOnPostgres, treeOnPostgres);
  const session = await openPostgresSession(address);
  const path = join(dir, "state.db");
  using sqlite = openSqliteTreeStores(path);
  const db = openState(path);
  try {
    const trees: Record<Engine, TreeStores> = { sqlite, postgres: createPostgresTreeStores(session) };
    const audits: Record<Engine, Audit> = {
      sqlite: auditOn(createSqliteAuditStore(db)),
      postgres: auditOn(createPostgresAuditStore(session)),
    };
    return {
      gateConsumeMs: waitsOf(await inTurns(trees, consumeGates)),
      auditRecordMs: waitsOf(await inTurns(audits, recordNow)),
    };
  } finally {
    db.close();
    await session.close();
  }
}

function auditOn(store: ReturnType<typeof createSqliteAuditStore>): Audit {
  return createAudit({ store, clock: systemClock, log: createLogger({ level: "silent" }) });
}

/** Each is settled then, so that none waits when the next are opened. */
async function consumeGates(tree: TreeStores): Promise<number[]> {
  const limits = { waitingPerPrincipalMax: gatesPerTurn };
  const store = tree.gates({ clock: systemClock, limits });
  const run = String(performance.now());
  const ids: string[] = [];
  for (let n = 0; n < gatesPerTurn; n += 1) {
    const { gate } = await store.open(wishOf(`sha256:${run} ${n}`), 60_000);
    ids.push(gate.id);
  }
  const took = await timed(gatesPerTurn, async (n) => {
    if (!(await store.consume(ids[n] ?? ""))) throw new Error("a gate was not consumed");
  });
  for (const id of ids) await store.settle(id, { status: "done", resultText: "{}" });
  return took;
}

function wishOf(digest: string) {
  return {
    ...{ principal: "agent", session: "s", keys: [], tool: "files.delete", argumentsText: "{}", digest },
    ...{ route: ["files", "delete"], capability: cautious, why: "bench", approvers: 1, isAllowed: true },
  };
}

async function recordNow(audit: Audit): Promise<number[]> {
  return timed(recordsPerTurn, async (n) => {
    const isKept = await audit.recordNow({ action: "bench.record", actor: "bench", subject: `subject ${n}` });
    if (!isKept) throw new Error("a record was not kept");
  });
}
