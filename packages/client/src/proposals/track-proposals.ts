// Feeds the tracker with everything the room says, and passes on what changes: to listeners, and to those who wait
// for their own proposals.
import { timestampMs } from "@mcpx/protocol";
import { type RoomCore, roomNow } from "../core/room-core.ts";
import type { RoomEnvelope } from "../core/room-envelope.ts";
import type { ProposalChange } from "./proposal.ts";
import { rejectIfUnable } from "./reject-if-unable.ts";

/** Expiry is looked at this often at least: clocks differ and timers are short. */
const lookMs = 60_000;

export class ProposalTracking {
  readonly #core: RoomCore;
  readonly #watchers = new Map<string, (change: ProposalChange) => void>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(core: RoomCore) {
    this.#core = core;
  }

  /** Tells of one proposal's changes until the returned function is called. */
  watch(id: string, watcher: (change: ProposalChange) => void): () => void {
    this.#watchers.set(id, watcher);
    return () => this.#watchers.delete(id);
  }

  /** What was said before we came: known, but no news. */
  remember(envelopes: readonly RoomEnvelope[]): void {
    for (const envelope of envelopes) this.#core.tracker.observe(envelope, receivedAt(this.#core, envelope));
    this.#core.tracker.expire(roomNow(this.#core));
    this.#wake();
  }

  observe(envelope: RoomEnvelope): void {
    this.#tell(this.#core.tracker.observe(envelope, receivedAt(this.#core, envelope)));
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#watchers.clear();
  }

  #tell(changes: readonly ProposalChange[]): void {
    for (const change of changes) {
      this.#watchers.get(change.proposal.id)?.(change);
      this.#core.events.emit("proposal", change);
      if (change.type === "proposed") void rejectIfUnable(this.#core, change.proposal).catch(() => {});
    }
    if (changes.length > 0) this.#wake();
  }

  /** One timer, for the next to expire. */
  #wake(): void {
    clearTimeout(this.#timer);
    const next = this.#core.tracker.nextExpiry();
    if (next === undefined || this.#core.connection.signal.aborted) return;
    const ms = Math.min(Math.max(next - roomNow(this.#core), 0) + 1, lookMs);
    this.#timer = setTimeout(() => {
      this.#tell(this.#core.tracker.expire(roomNow(this.#core)));
      this.#wake();
    }, ms);
  }
}

function receivedAt(core: RoomCore, { at }: RoomEnvelope): number {
  const ms = at === undefined ? Number.NaN : timestampMs(at);
  return Number.isNaN(ms) ? roomNow(core) : ms;
}
