// Whose subserver we are, and for how long that is certain. Pure: the time is given, on the monotonic clock.
import type { RegistrationAnswer } from "@mcpx/protocol";

export class Lease {
  #aggregatorId: string | null = null;
  #leaseMs = 0;
  #endsAtMs = Number.NEGATIVE_INFINITY;

  begin({ aggregator_id, lease_ms }: RegistrationAnswer, nowMs: number): void {
    this.#aggregatorId = aggregator_id;
    this.#leaseMs = lease_ms;
    // Where there are no heartbeats it lasts as long as the connection.
    this.#endsAtMs = lease_ms === 0 ? Number.POSITIVE_INFINITY : nowMs + lease_ms;
  }

  /** A heartbeat was answered: certain is only that the aggregator had us when it was sent. */
  renew(sentAtMs: number): void {
    this.#endsAtMs = Math.max(this.#endsAtMs, sentAtMs + this.#leaseMs);
  }

  /** The connection is gone: the aggregator may hold on to us until the lease is over. */
  loseConnection(): void {
    if (this.#endsAtMs === Number.POSITIVE_INFINITY) this.end();
  }

  /** The aggregator has let us go. */
  end(): void {
    this.#endsAtMs = Number.NEGATIVE_INFINITY;
  }

  leftMs(nowMs: number): number {
    return Math.max(0, this.#endsAtMs - nowMs);
  }

  /** [AX-13.4-2] */
  parentId(nowMs: number): string | null {
    return this.leftMs(nowMs) > 0 ? this.#aggregatorId : null;
  }
}
