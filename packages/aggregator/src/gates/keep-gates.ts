// The gates while the process lives: what the one before it has left open is told, and what nobody decides about ends.
import type { Audit, Logger } from "@mcpx/host";
import type { Gate, ListedGate } from "./gate-store.ts";
import { type Gatekeeper, wake } from "./gatekeeper.ts";

interface KeepOptions {
  audit: Audit | undefined;
  log: Logger;
  /** Only who has the store to itself knows that what was consumed is lost, and not under way elsewhere. */
  mayRecover: boolean;
}

const sweepMs = 1_000;

/** Resolves before anything is dispatched; gives back how to stop. */
export async function keepGates(gates: Gatekeeper, options: KeepOptions): Promise<() => void> {
  const { audit, log, mayRecover } = options;
  const { store } = gates;
  const tell = (gate: ListedGate) => {
    const { id, tool, principal, status, digest } = gate;
    audit?.record({
      action: `gate.${status}`,
      actor: principal,
      subject: tool,
      detail: { gate: id, digest },
    });
  };
  if (mayRecover) {
    for (const gate of await store.recover()) {
      tell(gate);
      log.warn({ gate: gate.id, tool: gate.tool }, "it is not known whether an approved call has happened");
    }
  }
  const sweep = async () => {
    for (const gate of await store.expire()) {
      tell(gate);
      const whole: Gate | undefined = await store.find(gate.id);
      if (whole !== undefined) wake(gates, whole);
    }
  };
  const timer = setInterval(() => {
    sweep().catch((error) => log.error({ err: error }, "gates could not be ended"));
  }, sweepMs).unref();
  return () => clearInterval(timer);
}
