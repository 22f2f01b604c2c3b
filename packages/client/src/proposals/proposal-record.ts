// A proposal as a plain record with the field names of MCPx v0.1, for logs, files and other programs. [X1-10.2-2]
import type { JsonObject } from "@mcpx/protocol";
import type { Proposal, ProposalStatus } from "./proposal.ts";

export interface ProposalRecord {
  proposalId: string;
  proposer: string;
  /** One id; a list where the proposal addresses several participants, or nobody. */
  target: string | readonly string[];
  method: string;
  params: JsonObject;
  status: ProposalStatus;
  /** RFC 3339. */
  createdAt: string;
  expiresAt: string;
}

export function proposalRecord(proposal: Proposal): ProposalRecord {
  const { id, proposer, targets, method, params, status, createdAt, expiresAt } = proposal;
  const [first] = targets;
  return {
    proposalId: id,
    proposer,
    target: first !== undefined && targets.length === 1 ? first : targets,
    method,
    params,
    status,
    createdAt: new Date(createdAt).toISOString(),
    expiresAt: new Date(expiresAt).toISOString(),
  };
}
