// Proposals of rooms that wait for a decision, so that each decision is written to the audit once, by the first
// envelope that ends it, and so that who comes later finds those that wait. Bounded; those that give way are told from
// the log alone (`mcpx audit`). Pure.

export interface OpenProposal {
  readonly topic: string;
  readonly id: string;
  /** Where it stands in the log. */
  readonly seq: number;
  readonly proposer: string;
  readonly targets: readonly string[];
  readonly method: string;
  readonly tool: string | undefined;
  /** Of method and parameters: whether a call is what was proposed. Absent where those have no canonical form. */
  readonly digest: string | undefined;
  /** Ms since 1970. */
  readonly openedAt: number;
  readonly expiresAt: number;
  /** Participants whose rejection was recorded. */
  readonly rejectedBy: Set<string>;
}

/** Which one, and where its envelope is found. */
export interface WaitingProposal {
  id: string;
  seq: number;
}

export interface OpenProposalBounds {
  max: number;
  perProposerMax: number;
}

const defaultBounds: OpenProposalBounds = { max: 2_000, perProposerMax: 256 };
/** More voices against one proposal are not counted: those of its targets always are. */
const voicesMax = 100;

export class OpenProposals {
  readonly #bounds: OpenProposalBounds;
  readonly #open = new Map<string, OpenProposal>();
  readonly #perProposer = new Map<string, number>();

  constructor(bounds: Partial<OpenProposalBounds> = {}) {
    this.#bounds = { ...defaultBounds, ...bounds };
  }

  get size(): number {
    return this.#open.size;
  }

  /** Beyond the bound the proposer's own oldest one gives way, or the oldest of all. */
  add(proposal: OpenProposal): void {
    const { proposer } = proposal;
    const own = this.#perProposer.get(proposer) ?? 0;
    if (own >= this.#bounds.perProposerMax) this.#forget((one) => one.proposer === proposer);
    else if (this.#open.size >= this.#bounds.max) this.#forget(() => true);
    this.#open.set(keyOf(proposal), proposal);
    this.#perProposer.set(proposer, (this.#perProposer.get(proposer) ?? 0) + 1);
  }

  /** Open still: `undefined` where it ended, or was never heard of. */
  find(topic: string, id: string, now: number): OpenProposal | undefined {
    const found = this.#open.get(keyOf({ topic, id }));
    return found === undefined || now > found.expiresAt ? undefined : found;
  }

  end(proposal: OpenProposal): void {
    if (!this.#open.delete(keyOf(proposal))) return;
    const left = (this.#perProposer.get(proposal.proposer) ?? 1) - 1;
    if (left > 0) this.#perProposer.set(proposal.proposer, left);
    else this.#perProposer.delete(proposal.proposer);
  }

  /** Nothing where this voice was heard before, or too many others were. */
  reject(proposal: OpenProposal, by: string): "rejected" | "advice" | undefined {
    const { rejectedBy, targets } = proposal;
    const isTarget = targets.includes(by);
    if (rejectedBy.has(by) || (!isTarget && rejectedBy.size >= voicesMax)) return undefined;
    rejectedBy.add(by);
    return isTarget && targets.every((target) => rejectedBy.has(target)) ? "rejected" : "advice";
  }

  /** Those that wait, by topic, the oldest first: so many of each. */
  waiting(now: number, perTopicMax: number): Map<string, WaitingProposal[]> {
    const byTopic = new Map<string, WaitingProposal[]>();
    for (const { topic, id, seq, expiresAt } of this.#open.values()) {
      const waiting = byTopic.get(topic) ?? [];
      if (now > expiresAt || waiting.length >= perTopicMax) continue;
      waiting.push({ id, seq });
      byTopic.set(topic, waiting);
    }
    return byTopic;
  }

  /** Takes out those whose time is over. */
  expire(now: number): OpenProposal[] {
    const over = [...this.#open.values()].filter(({ expiresAt }) => now > expiresAt);
    for (const proposal of over) this.end(proposal);
    return over;
  }

  #forget(isFitting: (proposal: OpenProposal) => boolean): void {
    const oldest = [...this.#open.values()].find(isFitting);
    if (oldest !== undefined) this.end(oldest);
  }
}

function keyOf({ topic, id }: { topic: string; id: string }): string {
  return `${topic}\n${id}`;
}
