// What has to be the same after a migration: how many rows each table has, where each topic ends, and both chains.
import { isDeepStrictEqual } from "node:util";
import { openChain, type TreeStores } from "@mcpx/aggregator";
import { type Audit, type AuditOptions, createAudit, createLogger, systemClock } from "@mcpx/host";
import { Failure } from "../framework/failure.ts";
import type { StateFiles } from "./state-files.ts";

export interface Told {
  /** What is under way, and how much of it is done. */
  now(table: string, done: number, of: number): void;
}

export interface Moved {
  /** Rows of each. */
  tables: Record<string, number>;
  audit: { records: number; head: string };
  /** Of the chain of approvers. */
  chain: { entries: number };
}

interface Ends {
  /** In the order of their names. */
  ends: readonly (readonly [name: string, last: number])[];
  /** The head of the audit chain. */
  head: string;
}

export function endsIn({ state, topics }: StateFiles): Ends {
  const rows = topics.prepare("SELECT name, last FROM topics ORDER BY name").all();
  const head = state.prepare("SELECT hash FROM audit_head").get()?.hash;
  return {
    ends: rows.map(({ name, last }) => [String(name), Number(last)] as const),
    head: typeof head === "string" ? head : noHash,
  };
}

/** The end of a chain without records. */
const noHash = "0".repeat(64);

export function checkSame(copied: Ends, wanted: Ends): void {
  if (!isDeepStrictEqual(copied.ends, wanted.ends))
    throw new Failure(
      "the last envelopes of the copied topics are not those of the original",
      "keep the original, and report this as a bug",
    );
  if (copied.head !== wanted.head)
    throw new Failure(`the audit chain of the copy ends at ${copied.head}, and not at ${wanted.head}`);
}

interface Chains {
  audit: AuditOptions["store"];
  tree: Pick<TreeStores, "chain" | "facts">;
}

/** Of the copy, from their first entries on. */
export async function verifyChains({ audit: store, tree }: Chains): Promise<Pick<Moved, "audit" | "chain">> {
  const audit = createAudit({ store, clock: systemClock, log: createLogger({ level: "silent" }) });
  try {
    const verdict = await audit.verify();
    if (!verdict.ok)
      throw new Failure(
        `the audit chain is broken at record ${verdict.at}`,
        "see mcpx audit verify: the original is as it was, and in use",
      );
    const { records, head } = verdict;
    return { audit: { records, head }, chain: { entries: await verifyApprovers(tree, audit) } };
  } finally {
    await audit.close();
  }
}

/** Its signatures, and that it ends where the audit says. */
async function verifyApprovers({ chain, facts }: Chains["tree"], audit: Audit): Promise<number> {
  const entries = await chain.length();
  // Without entries there may be no aggregator yet, and none is made.
  if (entries === 0) return 0;
  const parts = { store: chain, audit, clock: systemClock, actor: "cli:migrate" };
  await openChain({ ...parts, aggregatorId: await facts.aggregatorId() }).catch((error: unknown) => {
    throw new Failure((error as Error).message, "see mcpx key log: the original is as it was, and in use");
  });
  return entries;
}
