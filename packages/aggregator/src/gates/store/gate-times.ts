// When a gate is over, and how long its outcome can be joined. Gates outlive the process, so the store has wall clock;
// while the process lives monotonic time decides, and no step of the wall clock ends or prolongs anything. After a
// restart the wall clock says how much is left, and never more than there was.
import type { Clock } from "@mcpx/host";
import { ended, isWaiting } from "./gate-steps.ts";
import type { Gate, ListedGate } from "./gate-store.ts";
import { withheld } from "./hold-steps.ts";

type Life = Pick<Gate, "id" | "createdAt" | "expiresAt" | "heldAt">;

export interface GateTimes {
  isOver(gate: Life): boolean;
  /** As it is at this moment: what is over has expired, whether that was written down or not. */
  seen<T extends ListedGate>(gate: T): T;
  /** Whether the same call belongs to it still. */
  isJoinable(gate: ListedGate): boolean;
  /** Its times run from now on, not from when somebody asks for them. */
  start(gate: ListedGate): void;
  forget(id: string): void;
}

export function createGateTimes({ clock, joinMs }: { clock: Clock; joinMs: number }): GateTimes {
  const lives = new Map<string, number>();
  const joins = new Map<string, number>();

  function isPast(ends: Map<string, number>, id: string, fromMs: number, lengthMs: number): boolean {
    const now = clock.monotonic();
    let end = ends.get(id);
    if (end === undefined) {
      end = now + Math.min(fromMs + lengthMs - clock.now(), lengthMs);
      ends.set(id, end);
    }
    return end <= now;
  }

  const isOver = ({ id, createdAt, expiresAt, heldAt = createdAt }: Life) =>
    isPast(lives, id, heldAt, expiresAt - heldAt);
  const isForgone = (id: string, settledAt: number) => isPast(joins, id, settledAt, joinMs);
  const seen = <T extends ListedGate>(gate: T): T => (isWaiting(gate) && isOver(gate) ? overdue(gate) : gate);

  return {
    isOver,
    seen,
    isJoinable(gate) {
      const { id, settledAt, isDelivered, isForOneHearer = false } = seen(gate);
      return settledAt === undefined || (!isDelivered && (isForOneHearer || !isForgone(id, settledAt)));
    },
    start(gate) {
      if (isWaiting(gate)) isOver(gate);
      if (gate.settledAt !== undefined) isForgone(gate.id, gate.settledAt);
    },
    forget(id) {
      lives.delete(id);
      joins.delete(id);
    },
  };
}

/** What has happened is not undone by nobody having looked at it. */
function overdue<T extends ListedGate>(gate: T): T {
  if (gate.status !== "held") return ended(gate, "expired", gate.expiresAt);
  return withheld(gate, "nobody has released it in time", gate.expiresAt);
}
