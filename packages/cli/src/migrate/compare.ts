// What has to be the same after a migration: how many rows each table has, where each topic ends, and the audit chain.
import { isDeepStrictEqual } from "node:util";
import { type AuditOptions, createAudit, createLogger, systemClock } from "@mcpx/host";
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

export async function verifyAudit(store: AuditOptions["store"]): Promise<Moved["audit"]> {
  const audit = createAudit({ store, clock: systemClock, log: createLogger({ level: "silent" }) });
  try {
    const chain = await audit.verify();
    if (chain.ok) return { records: chain.records, head: chain.head };
    throw new Failure(
      `the audit chain is broken at record ${chain.at}`,
      "see mcpx audit verify: the original is as it was, and in use",
    );
  } finally {
    await audit.close();
  }
}
