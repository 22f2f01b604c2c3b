// Whether one more gate may wait: many waiting calls must neither fill the store nor bury the approvers.
import { McpxError } from "@mcpx/protocol";
import type { GateLoad, GateRows, Opening } from "./gate-rows.ts";
import type { GateLimits, GateWish } from "./gate-store.ts";
import type { GateTimes } from "./gate-times.ts";

export function checkWish({ argumentsText }: GateWish, { argumentsCharsMax }: GateLimits): void {
  if (argumentsText.length > argumentsCharsMax) {
    throw new McpxError("too_large", `arguments of more than ${argumentsCharsMax} characters cannot wait`);
  }
  // An unpaired surrogate would come back from the database as another character.
  if (!argumentsText.isWellFormed()) throw new McpxError("bad_field", "the arguments are not valid Unicode");
}

export async function checkCapacity(
  { rows, times, limits }: CapacityParts,
  seen: Pick<Opening, "own" | "all">,
  { principal, argumentsText }: GateWish,
): Promise<void> {
  const bounds = [
    {
      load: seen.own,
      whose: principal,
      countMax: limits.waitingPerPrincipalMax,
      charsMax: limits.waitingCharsPerPrincipalMax,
    },
    { load: seen.all, whose: undefined, countMax: limits.waitingMax, charsMax: limits.waitingCharsMax },
  ];
  for (const { load, whose, countMax, charsMax } of bounds) {
    const isFull = ({ count, chars }: GateLoad) =>
      count >= countMax || chars + argumentsText.length > charsMax;
    // Gates that are over count until they are swept, unless the limit is reached.
    if (isFull(load) && isFull(await liveLoad(rows, times, whose))) {
      throw new McpxError("too_many_gates", whose === undefined ? "of all callers" : "of this caller");
    }
  }
}

interface CapacityParts {
  rows: Pick<GateRows, "waiting">;
  times: Pick<GateTimes, "isOver">;
  limits: GateLimits;
}

async function liveLoad(
  rows: CapacityParts["rows"],
  times: CapacityParts["times"],
  whose: string | undefined,
): Promise<GateLoad> {
  const live = (await rows.waiting()).filter(
    (gate) => (whose === undefined || gate.principal === whose) && !times.isOver(gate),
  );
  return { count: live.length, chars: live.reduce((sum, { chars }) => sum + chars, 0) };
}
