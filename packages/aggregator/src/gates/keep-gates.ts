// The gates while the process lives: what the one before it has left open is told, and what nobody decides about ends.
import type { Audit, Logger } from "@mcpx/host";
import { type Gatekeeper, wake } from "./gatekeeper.ts";
import { gateEvent } from "./store/gate-records.ts";
import type { Gate, ListedGate } from "./store/gate-store.ts";

interface KeepOptions {
  audit: Audit | undefined;
  log: Logger;
  /** Only who knows that no other gateway lives can tell what is lost from what is under way elsewhere. */
  mayRecover: boolean;
}

const sweepMs = 1_000;

/** Resolves before anything is dispatched; gives back how to stop. */
export async function keepGates(gates: Gatekeeper, options: KeepOptions): Promise<() => void> {
  const { audit, log, mayRecover } = options;
  const { store } = gates;
  /** Many may end at once: they are written together, and then anybody is told. */
  const record = async (ended: readonly ListedGate[]) => {
    for (const gate of ended) audit?.record(gateEvent(gate.status, gate.principal, gate));
    if (ended.length > 0) await audit?.flush();
  };
  if (mayRecover) {
    const lost = await store.recover();
    await record(lost);
    for (const { id, tool, status } of lost) {
      const what =
        status === "refused"
          ? "approved call was never sent"
          : "approved call was interrupted; its outcome is unknown";
      log.warn({ gate: id, tool }, what);
    }
  }
  const sweep = async () => {
    const ended = await store.expire();
    await record(ended);
    for (const gate of ended) {
      const whole: Gate | undefined = await store.find(gate.id);
      if (whole !== undefined) wake(gates, whole);
    }
  };
  let isBroken = false;
  let sweeping: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    // One after the other, and a store that is away is told of once.
    sweeping = sweeping.then(sweep).then(
      () => {
        isBroken = false;
      },
      (error) => {
        if (!isBroken) log.error({ err: error }, "could not end expired gates; tried again every second");
        isBroken = true;
      },
    );
  }, sweepMs).unref();
  return () => clearInterval(timer);
}
