// Follows every proposal of a room from the envelopes everybody sees. Pure: time is given, nothing is sent.

import { parseKind, written } from "@mcpx/protocol";
import type { RoomEnvelope } from "../core/room-envelope.ts";
import * as decide from "./decide.ts";
import type { Proposal, ProposalChange } from "./proposal.ts";
import { weightOf } from "./weight-of.ts";

export interface TrackerOptions {
  /** The life of a proposal that names none; 5 min unless given. [X1-7.3-1] */
  defaultTtlMs?: number;
  /** How many are remembered; the oldest ended ones are forgotten first. */
  max?: number;
}

/** About how many bytes they may take in all. */
const bytesMax = 8_000_000;

export class ProposalTracker {
  readonly #defaultTtlMs: number;
  readonly #max: number;
  readonly #proposals = new Map<string, Proposal>();
  /** Calls that fulfil something, by their envelope. */
  readonly #calls = new Map<string, string>();
  #bytes = 0;
  /** No pending proposal ends before this. */
  #earliestEnd = Number.POSITIVE_INFINITY;

  constructor({ defaultTtlMs = 300_000, max = 1_000 }: TrackerOptions = {}) {
    this.#defaultTtlMs = defaultTtlMs;
    this.#max = max;
  }

  /** Takes an envelope of the room, own ones included, in the room's order, with its time of receipt. */
  observe(envelope: RoomEnvelope, at: number): ProposalChange[] {
    return [...this.expire(at), ...this.#decide(envelope, at)];
  }

  /** Ends what has expired. [PL-11-1] */
  expire(now: number): ProposalChange[] {
    if (now <= this.#earliestEnd) return [];
    const changes = this.pending().flatMap((one) => this.#apply(decide.expire(one, now), undefined));
    this.#earliestEnd = this.nextExpiry() ?? Number.POSITIVE_INFINITY;
    return changes;
  }

  /** When the next pending proposal expires. */
  nextExpiry(): number | undefined {
    const ends = this.pending().map(({ expiresAt }) => expiresAt);
    return ends.length === 0 ? undefined : Math.min(...ends);
  }

  get(id: string): Proposal | undefined {
    return this.#proposals.get(id);
  }

  pending(): Proposal[] {
    return this.all().filter(({ status }) => status === "pending");
  }

  /** In the order they were made. */
  all(): Proposal[] {
    return [...this.#proposals.values()];
  }

  /** How often which code, or reason where there is none, stands at the rejections that are remembered. [PL-11-3] */
  countsByReason(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const { code, reason = "no reason" } of this.all().flatMap(({ rejections }) => rejections)) {
      counts.set(code ?? reason, (counts.get(code ?? reason) ?? 0) + 1);
    }
    return counts;
  }

  #decide(envelope: RoomEnvelope, at: number): ProposalChange[] {
    const { from, payload } = envelope;
    const referred = this.#proposals.get(envelope.correlation_id ?? "");
    switch (parseKind(envelope.kind)?.kind) {
      case "mcp/proposal":
        return this.#add(decide.propose(envelope, at, this.#defaultTtlMs), from);
      case "mcpx.withdraw.proposal":
        return this.#withdraw(envelope);
      case "mcpx.reject.proposal":
        return referred ? this.#apply(decide.reject(referred, from, payload), from) : [];
      case "mcpx.status.proposal":
        return referred ? this.#apply(decide.noteStatus(referred, from, payload), from) : [];
      case "mcp":
        return this.#mcp(envelope);
      default:
        return [];
    }
  }

  #add(proposal: Proposal | undefined, by: string): ProposalChange[] {
    if (proposal === undefined || this.#proposals.has(proposal.id)) return [];
    this.#earliestEnd = Math.min(this.#earliestEnd, proposal.expiresAt);
    return this.#apply({ proposal, type: "proposed" }, by);
  }

  /** One by its id, or several. [PL-8-1] */
  #withdraw({ from, correlation_id, payload }: RoomEnvelope): ProposalChange[] {
    const listed = Array.isArray(payload.proposals) ? payload.proposals : [];
    return [...new Set([correlation_id, ...listed])].flatMap((id) => {
      const proposal = this.#proposals.get(written(id));
      return proposal === undefined ? [] : this.#apply(decide.withdraw(proposal, from, payload), from);
    });
  }

  #mcp(envelope: RoomEnvelope): ProposalChange[] {
    const { payload, from } = envelope;
    if (Object.hasOwn(payload, "result") || Object.hasOwn(payload, "error")) {
      const proposal = this.#proposals.get(this.#calls.get(envelope.correlation_id ?? "") ?? "");
      return proposal ? this.#apply(decide.answer(proposal, envelope), from) : [];
    }
    if (!Object.hasOwn(payload, "id")) return [];
    const proposal = this.#meant(envelope);
    const next = proposal && (decide.fulfil(proposal, envelope) ?? decide.callLate(proposal, envelope));
    const changes = this.#apply(next, from);
    for (const change of changes) this.#calls.set(envelope.id, change.proposal.id);
    return changes;
  }

  /** Named, or the one open proposal that asks for exactly this call; none or several is no match. [X1-4.2.1-2] */
  #meant(envelope: RoomEnvelope): Proposal | undefined {
    const named = decide.namedProposal(envelope);
    if (named !== undefined) return this.#proposals.get(named);
    const [target = ""] = envelope.to ?? [];
    const fitting = this.pending().filter((one) => decide.isAsProposed(one, target, envelope.payload));
    return fitting.length === 1 ? fitting[0] : undefined;
  }

  #apply(
    next: { proposal: Proposal; type: ProposalChange["type"] } | undefined,
    by: string | undefined,
  ): ProposalChange[] {
    if (next === undefined) return [];
    const { proposal } = next;
    this.#bytes += weightOf(proposal) - weightOf(this.get(proposal.id));
    this.#proposals.set(proposal.id, proposal);
    // What makes place: the oldest ended ones, then the oldest, never what has just come.
    const ended = this.all().filter(({ status }) => status !== "pending");
    for (const oldest of [...ended, ...this.pending()]) {
      if (this.#proposals.size <= this.#max && this.#bytes <= bytesMax) break;
      if (oldest !== proposal) this.#forget(oldest);
    }
    return [{ ...next, by }];
  }

  #forget(proposal: Proposal): void {
    this.#proposals.delete(proposal.id);
    this.#bytes -= weightOf(proposal);
    this.#calls.delete((proposal.fulfilment ?? proposal.lateCall)?.envelopeId ?? "");
  }
}
