// Follows the proposals of one topic through its log, entry by entry, with the tracker every client uses. Pure.
import { isRoomEnvelope, type Proposal, type ProposalChange, ProposalTracker } from "@mcpx/client";
import type { Entry } from "@mcpx/gateway";
import { type ProposalRecord, proposalRecord } from "./proposal-record.ts";

export interface TopicFollower {
  /** Takes the topic's entries in their order. */
  take(entry: Entry): ProposalRecord[];
  /** After the last entry: what has expired since. */
  end(now: number): ProposalRecord[];
}

export function followTopic(topic: string): TopicFollower {
  const tracker = new ProposalTracker();
  /** Pending, or called and not answered: only for these does a call or an answer matter. */
  const open = new Map<string, Proposal>();

  let hasSome = false;

  function note({ type, proposal }: ProposalChange): void {
    const isOver = type === "answered" || (proposal.status !== "pending" && proposal.status !== "fulfilled");
    if (isOver) open.delete(proposal.id);
    else open.set(proposal.id, proposal);
  }

  function expired(now: number): ProposalRecord[] {
    const changes = tracker.expire(now).sort((a, b) => a.proposal.expiresAt - b.proposal.expiresAt);
    return changes.map((change) => {
      note(change);
      const { createdAt, expiresAt } = change.proposal;
      return proposalRecord(change, { topic, at: Math.max(createdAt, expiresAt) });
    });
  }

  /** The tracker remembers a bounded number; a pending proposal that it gave up is not lost in silence. */
  function crowdedOut({ at, seq }: Entry): ProposalRecord[] {
    const gone = [...open.values()].filter(({ id }) => tracker.get(id) === undefined);
    for (const { id } of gone) open.delete(id);
    return gone
      .filter(({ status }) => status === "pending")
      .map((proposal) => proposalRecord({ type: "untracked", proposal, by: undefined }, { topic, at, seq }));
  }

  return {
    take(entry) {
      const records = expired(entry.at);
      const mayMatter = open.size > 0 || mayBeProposal(entry.text) || (hasSome && mayBeLate(entry.text));
      const envelope = mayMatter ? parse(entry.text) : undefined;
      if (!isRoomEnvelope(envelope)) return records;
      const changes = tracker.observe(envelope, entry.at);
      for (const change of changes) {
        note(change);
        records.push(proposalRecord(change, { topic, at: entry.at, seq: entry.seq }));
      }
      const isNew = changes.some(({ type }) => type === "proposed");
      hasSome ||= isNew;
      return isNew ? [...records, ...crowdedOut(entry)] : records;
    },
    end: expired,
  };
}

/** Cheap, and never wrong to say yes. Escapes may spell anything. */
function mayBeProposal(text: string): boolean {
  return text.includes("proposal") || text.includes("\\");
}

/** A call that names a proposal which is over, or its answer. */
function mayBeLate(text: string): boolean {
  return text.includes("correlation");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The gateway checked it on its way in; a log that something else has written to is still read to its end.
    return undefined;
  }
}
