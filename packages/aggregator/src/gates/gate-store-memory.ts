// Gates that end with the process.
import type { GateRows } from "./gate-rows.ts";
import { isFinished, isWaiting } from "./gate-steps.ts";
import { type Gate, type GateStore, listMax } from "./gate-store.ts";
import { createGateVerbs, type GateStoreOptions, listedOf } from "./gate-verbs.ts";

export function createMemoryGateStore(options: GateStoreOptions): GateStore {
  return createGateVerbs(createRows(), options);
}

function createRows(): GateRows {
  /** Oldest first. */
  const gates = new Map<string, Gate>();
  const proofs = new Set<string>();
  const newestFirst = () => [...gates.values()].reverse();
  const waiting = () =>
    [...gates.values()].filter(isWaiting).map((gate) => ({ ...gate, chars: charsOf(gate) }));
  return {
    // Nothing is awaited inside, and whoever throws does so before the first change.
    atomically: (work) => work(),
    insert(gate) {
      if (gates.has(gate.id)) throw new Error("a gate of this id exists");
      gates.set(gate.id, gate);
    },
    find: (id) => gates.get(id),
    update(gate) {
      gates.set(gate.id, gate);
    },
    newest: (principal, tool, digest) =>
      newestFirst().find(
        (gate) => gate.principal === principal && gate.tool === tool && gate.digest === digest,
      ),
    newestDone({ id, tool }, principal) {
      const older = newestFirst();
      return older
        .slice(older.findIndex((gate) => gate.id === id) + 1)
        .find((gate) => gate.status === "done" && gate.tool === tool && isOf(gate, principal));
    },
    list: (status) =>
      newestFirst()
        .filter((gate) => status === undefined || gate.status === status)
        .slice(0, listMax)
        .map(listedOf),
    waiting,
    waitingLoad(principal) {
      const counted = waiting().filter((gate) => isOf(gate, principal));
      return { count: counted.length, chars: counted.reduce((sum, { chars }) => sum + chars, 0) };
    },
    prune({ finishedMax, finishedCharsMax }) {
      let count = 0;
      let chars = 0;
      const finished = newestFirst().filter(isFinished);
      const pruned = finished
        .sort((a, b) => Number(a.isDelivered) - Number(b.isDelivered))
        .filter((gate) => {
          count += 1;
          chars += charsOf(gate);
          return count > finishedMax || chars > finishedCharsMax;
        })
        .map(({ id }) => id);
      for (const id of pruned) gates.delete(id);
      return pruned;
    },
    addProof(hash) {
      if (proofs.has(hash)) return false;
      proofs.add(hash);
      return true;
    },
  };
}

function isOf(gate: Pick<Gate, "principal">, principal: string | undefined): boolean {
  return principal === undefined || gate.principal === principal;
}

function charsOf({ argumentsText, resultText = "" }: Gate): number {
  return argumentsText.length + resultText.length;
}
