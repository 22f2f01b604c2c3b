// Proposals of one room that give nobody a right any more: fulfilled, withdrawn, rejected by all they were for. The
// newest of each proposer are remembered. Whatever is as old as something forgotten counts as ended, and so does all
// that was proposed before the room was opened. Pure. [AC-10-2]

export interface ProposalPlace {
  id: string;
  proposer: string;
  /** Where it stands in the room's log. */
  seq: number;
}

export interface EndedBounds {
  proposersMax: number;
  perProposerMax: number;
}

interface Ending {
  seq: number;
  isEnded: boolean;
  /** The envelope that fulfilled it: sent again, it is the same call. */
  fulfilledBy?: string;
  rejectedBy: Set<string>;
}

interface Remembered {
  /** Its proposals up to here count as ended. */
  forgottenSeq: number;
  lastSeq: number;
  readonly endings: Map<string, Ending>;
}

const defaultBounds: EndedBounds = { proposersMax: 1_000, perProposerMax: 256 };

export class EndedProposals {
  readonly #bounds: EndedBounds;
  readonly #byProposer = new Map<string, Remembered>();
  #forgottenSeq: number;

  constructor(openedAtSeq: number, bounds: Partial<EndedBounds> = {}) {
    this.#forgottenSeq = openedAtSeq;
    this.#bounds = { ...defaultBounds, ...bounds };
  }

  /** Whether it gives this call no right; the one that fulfilled it keeps its own. */
  isEnded({ id, proposer, seq }: ProposalPlace, callId: string): boolean {
    const remembered = this.#byProposer.get(proposer);
    const ending = remembered?.endings.get(id);
    if (ending?.fulfilledBy === callId) return false;
    return ending?.isEnded === true || seq <= Math.max(this.#forgottenSeq, remembered?.forgottenSeq ?? 0);
  }

  fulfil(place: ProposalPlace, callId: string): void {
    const ending = this.#endingOf(place);
    if (ending.isEnded) return;
    ending.isEnded = true;
    ending.fulfilledBy = callId;
  }

  withdraw(place: ProposalPlace): void {
    this.#endingOf(place).isEnded = true;
  }

  /** The no of somebody it is not for is advice. [PL-2-2] */
  reject(place: ProposalPlace, targets: readonly string[], by: string): void {
    if (!targets.includes(by)) return;
    const ending = this.#endingOf(place);
    ending.rejectedBy.add(by);
    if (targets.every((target) => ending.rejectedBy.has(target))) ending.isEnded = true;
  }

  #endingOf({ id, proposer, seq }: ProposalPlace): Ending {
    const remembered = this.#rememberedOf(proposer);
    const known = remembered.endings.get(id);
    if (known !== undefined) return known;
    const [oldest] = remembered.endings;
    if (remembered.endings.size >= this.#bounds.perProposerMax && oldest !== undefined) {
      remembered.endings.delete(oldest[0]);
      remembered.forgottenSeq = Math.max(remembered.forgottenSeq, oldest[1].seq);
    }
    const ending: Ending = { seq, isEnded: false, rejectedBy: new Set() };
    remembered.endings.set(id, ending);
    remembered.lastSeq = Math.max(remembered.lastSeq, seq);
    return ending;
  }

  #rememberedOf(proposer: string): Remembered {
    const known = this.#byProposer.get(proposer);
    if (known !== undefined) return known;
    const [oldest] = this.#byProposer;
    if (this.#byProposer.size >= this.#bounds.proposersMax && oldest !== undefined) {
      this.#byProposer.delete(oldest[0]);
      this.#forgottenSeq = Math.max(this.#forgottenSeq, oldest[1].lastSeq);
    }
    const remembered: Remembered = { forgottenSeq: 0, lastSeq: 0, endings: new Map() };
    this.#byProposer.set(proposer, remembered);
    return remembered;
  }
}
