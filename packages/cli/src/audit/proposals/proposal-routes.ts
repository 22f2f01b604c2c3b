// For the operator: GET /admin/proposals, what happened to the proposals of rooms. A scan of the log goes on where its
// last page ended, so that each answer costs a bounded part of it.
import { randomUUID } from "node:crypto";
import { operatorRoute } from "@mcpx/aggregator";
import type { Audit, Clock, HttpRequest, Identity, Route } from "@mcpx/host";
import { isId, McpxError } from "@mcpx/protocol";
import type { ProposalRecord } from "./proposal-record.ts";
import { type ProposalLog, scanProposals } from "./scan-proposals.ts";

export interface ProposalRoutesOptions {
  identity: Pick<Identity, "tokens">;
  audit: Audit;
  log: ProposalLog;
  clock: Pick<Clock, "now">;
}

type Scan = AsyncGenerator<ProposalRecord[]>;

const recordsMax = 1_000;
/** Pages of the log that one answer reads. */
const stepsMax = 50;
/** Scans that wait for their next page; past it the one that has waited longest is given up. */
const scansMax = 4;

export function proposalRoutes({ identity, audit, log, clock }: ProposalRoutesOptions): Route[] {
  const waiting = new Map<string, Scan>();

  function scanOf({ query }: HttpRequest): Scan {
    const next = query.get("next");
    if (next === null) return scanProposals(log, { ...wishesOf(query), now: () => clock.now() });
    const scan = waiting.get(next);
    if (scan === undefined) throw new McpxError("not_found", "this scan was given up; begin again");
    // Taken out while it works: two answers never share one.
    waiting.delete(next);
    return scan;
  }

  async function handle(request: HttpRequest) {
    const scan = scanOf(request);
    const { records, isOver } = await readOn(scan);
    if (isOver) return { body: { records } };
    const next = randomUUID();
    waiting.set(next, scan);
    const [oldest] = waiting.keys();
    if (waiting.size > scansMax && oldest !== undefined) waiting.delete(oldest);
    return { body: { records, next } };
  }
  return [operatorRoute({ identity, audit }, "GET", "/admin/proposals", (_, request) => handle(request))];
}

async function readOn(scan: Scan): Promise<{ records: ProposalRecord[]; isOver: boolean }> {
  const records: ProposalRecord[] = [];
  for (let step = 0; step < stepsMax && records.length < recordsMax; step += 1) {
    const { done, value } = await scan.next();
    if (done === true) return { records, isOver: true };
    records.push(...value);
    // Rooms go on between two pages.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { records, isOver: false };
}

function wishesOf(query: URLSearchParams): { topic?: string; since?: number } {
  const topic = query.get("topic");
  const since = query.get("since");
  if (topic !== null && !isId(topic)) throw new McpxError("bad_request", "topic must be the name of a topic");
  if (since !== null && !/^\d{1,15}$/.test(since)) {
    throw new McpxError("bad_request", "since must be a whole number of milliseconds since 1970");
  }
  return { ...(topic !== null && { topic }), ...(since !== null && { since: Number(since) }) };
}
