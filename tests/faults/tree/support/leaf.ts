// Subservers in a process of their own, so that they can die together: an official SDK server for each, registered with
// `registerWith`. What they are is the first argument, as JSON; what happens to them, and every call they carry out, is
// a line they print. A line they are given is an order. They end with whoever started them.
import { createInterface } from "node:readline";
import { registerWith, type Subserver } from "@mcpx/client/subserver";
import { createWorker } from "./worker.ts";

export interface LeafOptions {
  url: string;
  backups?: readonly string[];
  heartbeatMs: number;
  /** What each comes with; all in one process. */
  leaves: readonly { segment: string; token: string; subserverId: string }[];
  transport?: "websocket" | "http";
}

/** One that is not there comes, one that is leaves. */
export type LeafOrder = { come: readonly string[] } | { leave: readonly string[] };

/** `owner` is whose subserver it was then, by its own lease. */
export type LeafLine =
  | { event: "state"; segment: string; state: string; why: string; owner: string | null; atMs: number }
  | { event: "registered"; segment: string; sessionId: string; aggregatorId: string }
  | { event: "effect"; segment: string; n: string; owner: string | null }
  | { event: "done"; order: string };

const { url, backups = [], heartbeatMs, leaves, transport }: LeafOptions = JSON.parse(process.argv[2] ?? "");
const here = new Map<string, Subserver>();
const ownerOf = (segment: string) => here.get(segment)?.parentId ?? null;
const say = (line: LeafLine) => process.stdout.write(`${JSON.stringify(line)}\n`);

function come(segment: string): void {
  const leaf = leaves.find((one) => one.segment === segment);
  if (leaf === undefined) throw new Error(`${segment} is none of ours`);
  const subserver = registerWith(url, {
    ...leaf,
    server: () => createWorker(segment, (n) => say({ event: "effect", segment, n, owner: ownerOf(segment) })),
    backups,
    heartbeatMs,
    transport,
    onState: (state, error) =>
      say({
        event: "state",
        segment,
        state,
        why: error?.message ?? "",
        owner: ownerOf(segment),
        atMs: performance.now(),
      }),
  });
  here.set(segment, subserver);
  subserver.registered.then(
    ({ session_id, aggregator_id }) =>
      say({ event: "registered", segment, sessionId: session_id, aggregatorId: aggregator_id }),
    // Its last state says so too.
    () => {},
  );
}

async function obey(order: LeafOrder): Promise<void> {
  if ("come" in order) {
    for (const segment of order.come) come(segment);
    await Promise.allSettled(order.come.map((segment) => here.get(segment)?.registered));
  } else {
    await Promise.all(order.leave.map((segment) => here.get(segment)?.close()));
    for (const segment of order.leave) here.delete(segment);
  }
  say({ event: "done", order: Object.keys(order).join() });
}

createInterface({ input: process.stdin })
  .on("line", (line) => void obey(JSON.parse(line)))
  .on("close", () => process.exit(1));
