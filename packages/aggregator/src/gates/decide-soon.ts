// A decision, and a moment's wait for what comes of it. What is decided happens, also where nobody waits for its end.
import { setTimeout as sleep } from "node:timers/promises";
import type { TreeState } from "../servers/tree-state.ts";
import { decide, prove } from "./confirm.ts";
import type { Gatekeeper } from "./gatekeeper.ts";
import type { Gate } from "./store/gate-store.ts";

const outcomeMs = 8_000;

/** Gives back the gate as it stands then; throws where the proof does not hold, or too late. `by`: who hands it in. */
export async function decideSoon(
  state: TreeState,
  gates: Gatekeeper,
  gate: Gate,
  handed: { proof: string; by: string },
): Promise<Gate> {
  const deciding = decide(state, gates, gate, await prove(state, gates, gate, handed));
  const left = new AbortController();
  try {
    await Promise.race([deciding, sleep(outcomeMs, undefined, { signal: left.signal, ref: false })]);
  } finally {
    left.abort();
    // Where nobody waits for it any more.
    deciding.catch((error) => state.log.debug({ err: error, gate: gate.id }, "a decision came to nothing"));
  }
  return (await gates.store.find(gate.id)) ?? gate;
}
