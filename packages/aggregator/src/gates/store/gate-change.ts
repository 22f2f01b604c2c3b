// The two ways to change a gate: a decision with its proof, and a step that exactly one of several may take. Both are
// made from a gate as it was read, and made again where somebody else was faster.
import type { Clock } from "@mcpx/host";
import { McpxError } from "@mcpx/protocol";
import { type GateRows, type Kept, newVersion } from "./gate-rows.ts";
import type { Gate, GateLimits } from "./gate-store.ts";
import type { GateTimes } from "./gate-times.ts";
import type { LateChanges, Sent } from "./late-changes.ts";

export interface GateStoreParts {
  rows: GateRows;
  times: GateTimes;
  clock: Clock;
  limits: GateLimits;
  newId: () => string;
  late: LateChanges;
}

/** A gate changes a few times in its life: who is overtaken so often does not see what there is. */
const triesMax = 100;

/** Changes the gate and marks the proof as used; throws where the decision comes too late. */
export async function decideAt(
  parts: GateStoreParts,
  id: string,
  proofHash: string | undefined,
  change: (gate: Gate) => Gate,
): Promise<Gate> {
  const { rows, times } = parts;
  return again(async () => {
    const kept = await rows.find(id);
    if (kept === undefined) throw new McpxError("confirmation_unknown");
    const next = change(times.seen(kept.gate));
    return (await save(parts, kept, next, { proofHash })) ? next : undefined;
  });
}

/**
 * Changes the gate only where `isRight` holds; of several that try at once exactly one returns true. `onSending` is told
 * what is about to be written.
 */
export async function stepIf(
  parts: GateStoreParts,
  id: string,
  isRight: (seen: Gate) => boolean,
  change: (gate: Gate) => Gate,
  onSending?: (sent: Sent) => void,
): Promise<boolean> {
  const { rows, times } = parts;
  return again(async () => {
    const kept = await rows.find(id);
    if (kept === undefined || !isRight(times.seen(kept.gate))) return false;
    return (await save(parts, kept, change(kept.gate), { onSending })) ? true : undefined;
  });
}

export function isUnderWay({ status }: Gate): boolean {
  return status === "consumed";
}

interface Saving {
  proofHash?: string | undefined;
  onSending?: ((sent: Sent) => void) | undefined;
}

/** False where the gate has changed since it was read. */
export async function save(
  { rows, times }: GateStoreParts,
  { version: from }: Pick<Kept, "version">,
  gate: Gate,
  { proofHash, onSending }: Saving = {},
): Promise<boolean> {
  const to = newVersion();
  onSending?.({ from, to });
  const became = await rows.replace({ gate, from, to }, proofHash);
  if (became === "proof_used") throw new McpxError("confirmation_used", "this proof was used before");
  if (became === "replaced") times.start(gate);
  return became === "replaced";
}

/** Tries again until the attempt gives a value. */
export async function again<T>(attempt: () => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const result = await attempt();
    if (result !== undefined) return result;
  }
  throw new McpxError("rate_limited", "other requests kept changing the same gate", { retryAfterMs: 1_000 });
}
