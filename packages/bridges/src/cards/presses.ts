// Presses that count as signatures. The command line makes them: a bridge holds no key and knows no chain of approvers.
import type { Decision, GateNotice, GateTerms } from "@mcpx/protocol";

export interface ProvenPress {
  readonly terms: GateTerms;
  /** Of the platform, as it has authenticated them. */
  readonly user: string;
  readonly participant: string;
  readonly decision: Decision;
  readonly reason?: string;
}

export interface Presses {
  /** Whether presses here may decide about this call: it can be undone, and somebody was enrolled. */
  mayDecide(notice: GateNotice): boolean;
  /** Their proof; undefined where an approver has not signed that this person's presses count. */
  prove(press: ProvenPress): Promise<string | undefined>;
}
