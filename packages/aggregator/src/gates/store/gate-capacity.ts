// Whether one more gate may wait: many waiting calls must neither fill the store nor bury the approvers.
import { McpxError } from "@mcpx/protocol";
import type { GateLimits, GateWish } from "./gate-store.ts";
import type { GateTimes } from "./gate-times.ts";
import type { GateLoad, GateRows } from "./gate-transaction.ts";

export function checkWish({ argumentsText }: GateWish, { argumentsCharsMax }: GateLimits): void {
  if (argumentsText.length > argumentsCharsMax) {
    throw new McpxError("too_large", `arguments of more than ${argumentsCharsMax} characters cannot wait`);
  }
  // An unpaired surrogate would come back from the database as another character.
  if (!argumentsText.isWellFormed()) throw new McpxError("bad_field", "the arguments are not valid Unicode");
}

export function checkCapacity(
  rows: GateRows,
  times: Pick<GateTimes, "isOver">,
  limits: GateLimits,
  { principal, argumentsText }: GateWish,
): void {
  const bounds = [
    {
      whose: principal,
      countMax: limits.waitingPerPrincipalMax,
      charsMax: limits.waitingCharsPerPrincipalMax,
    },
    { whose: undefined, countMax: limits.waitingMax, charsMax: limits.waitingCharsMax },
  ];
  for (const { whose, countMax, charsMax } of bounds) {
    const isFull = ({ count, chars }: GateLoad) =>
      count >= countMax || chars + argumentsText.length > charsMax;
    // Gates that are over count until they are swept, unless the limit is reached.
    if (isFull(rows.waitingLoad(whose)) && isFull(liveLoad(rows, times, whose))) {
      throw new McpxError("too_many_gates", whose === undefined ? "of all callers" : "of this caller");
    }
  }
}

function liveLoad(rows: GateRows, times: Pick<GateTimes, "isOver">, whose: string | undefined): GateLoad {
  const live = rows
    .waiting()
    .filter((gate) => (whose === undefined || gate.principal === whose) && !times.isOver(gate));
  return { count: live.length, chars: live.reduce((sum, { chars }) => sum + chars, 0) };
}
