// A proposal as everybody in the room can follow it. [X1-10.2-1] [X1-10.2-2]
import type { JsonObject } from "@mcpx/protocol";

export type ProposalStatus = "pending" | "fulfilled" | "rejected" | "withdrawn" | "expired";

export interface MadeCall {
  /** The envelope of the call; the target's answer refers to it. */
  envelopeId: string;
  fulfiller: string;
  target: string;
  /** The call is not exactly what was proposed: another target, method or parameters. */
  isChanged: boolean;
  /** What was called, where it is changed: who reads the proposal alone would take it for what has happened. */
  called?: { method: string; params: JsonObject };
}

export interface Rejection {
  by: string;
  /** A sentence for people. */
  reason?: string;
  /** A word for programs. */
  code?: string;
  /** It ended the proposal; otherwise it is advice. */
  isFinal: boolean;
}

export interface Proposal {
  readonly id: string;
  readonly proposer: string;
  readonly targets: readonly string[];
  readonly method: string;
  readonly params: JsonObject;
  readonly reason?: string;
  /** What an aggregator says of a call at its gate. Only it can end such a proposal by a call. [B-GATE-2] */
  readonly mcpax?: JsonObject;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly status: ProposalStatus;
  readonly fulfilment?: MadeCall;
  /** A call that named it after it was rejected, withdrawn or expired. Its answer is `result` or `error`. */
  readonly lateCall?: MadeCall;
  readonly result?: JsonObject;
  readonly error?: JsonObject;
  readonly rejections: readonly Rejection[];
  /** There where its proposer has taken it back and said why. */
  readonly withdrawal?: { reason: string };
  readonly statuses: readonly { by: string; status: string; reason?: string }[];
}

export interface ProposalChange {
  type:
    | "proposed"
    | "status"
    | "advice"
    | "fulfilled"
    | "called late"
    | "answered"
    | "rejected"
    | "withdrawn"
    | "expired";
  proposal: Proposal;
  /** Whose envelope it was; nobody's where time did it. */
  by: string | undefined;
}
