// The gates of a tree as its room shows them: read from proposals, decided by a proof sent to who has made them. No
// browser and no rights at the gateway are needed, only a place in the room and a key that counts. [B-GATE-2]
import type { Proposal, Room } from "@mcpx/client";
import {
  type GateNotice,
  gateProposalId,
  isObject,
  type JsonObject,
  readGateNotice,
  roomMethods,
  statementOf,
} from "@mcpx/protocol";
import { Failure } from "../framework/failure.ts";
import { onlyWithIdPrefix } from "../framework/id-prefix.ts";
import { checked, type GateAccess, type GateReport } from "./gate-access.ts";

export function roomGateAccess(room: Room): GateAccess {
  const find = async (id: string): Promise<GateReport> => {
    const gate = findRoomGate(room, id);
    if (gate === undefined) {
      throw new Failure(`there is no gate ${id} in ${room.topic}`, `see mcpx pending ${room.topic}`);
    }
    if (gate.leftOut !== undefined) {
      throw new Failure(`${gate.tool}: the room cannot show what would be signed`, gate.leftOut);
    }
    return checked(gate as unknown as JsonObject);
  };
  return {
    find,
    async list(status) {
      const gates = gatesIn(room).filter((gate) => status === undefined || gate.status === status);
      return { gates, approvers: undefined, isPanic: false };
    },
    async decide(id, proof) {
      const gate = await find(id);
      const { proposer = "" } = room.proposals.get(gateProposalId(gate.id)) ?? {};
      const answer = await room
        .peer(proposer)
        .request(roomMethods.confirmGate, { confirmation_id: gate.id, proof }, { propose: "never" });
      return decided(gate, isObject(answer.structuredContent) ? answer.structuredContent : {});
    },
  };
}

/** By its id, the beginning of it, or the id of its proposal. */
export function findRoomGate(room: Room, id: string): GateReport | undefined {
  const gates = gatesIn(room);
  const named = gates.find((gate) => gate.id === id || gateProposalId(gate.id) === id);
  // What somebody else calls so is somebody else's.
  return named ?? (room.proposals.get(id) === undefined ? onlyWithIdPrefix(id, gates) : undefined);
}

function gatesIn(room: Room): GateReport[] {
  return room.proposals.all().flatMap((proposal) => roomGate(room, proposal) ?? []);
}

/** What has to be known of a room to tell its gates from copies. */
export type GateRoom = Pick<Room, "topic" | "peers">;

/** A proposal that is a gate; `undefined` for every other. What it says is checked when it is signed. */
export function roomGate(room: GateRoom, proposal: Proposal): GateReport | undefined {
  const notice = readGateNotice(proposal.mcpax);
  const { proposer, targets } = proposal;
  // Under another id, or for somebody else to do, it is a copy.
  const isOne = notice && proposal.id === gateProposalId(notice.confirmation_id) && targets[0] === proposer;
  if (!isOne || !isOwnTree(room, proposer)) return undefined;
  const report = reportOf(room.topic, proposal, notice);
  const { structuredContent } = proposal.result ?? {};
  return isObject(structuredContent) ? decided(report, structuredContent) : report;
}

/** By the word of the gateway, never by what a proposal says: a signature goes to the tree and to nobody else. */
function isOwnTree({ peers }: GateRoom, proposer: string): boolean {
  return peers.some(({ id, own }) => id === proposer && own === true);
}

function reportOf(topic: string, proposal: Proposal, notice: GateNotice): GateReport {
  const { decision: _, ...terms } = statementOf(notice, "approve");
  const { confirmation_id, aggregator_id, route, tool, expires_at } = terms;
  const { arguments_text, arguments_chars, approve_url, last } = notice;
  return {
    id: confirmation_id,
    status: proposal.status,
    principal: notice.asked_by,
    session: "",
    tool,
    why: notice.why,
    route: [...route],
    capability: notice.annotation,
    approvers: notice.approvers,
    approvals: [],
    createdAt: notice.asked_at,
    expiresAt: new Date(expires_at * 1_000).toISOString(),
    terms,
    argumentsText: arguments_text ?? "",
    ...(notice.secrets && { secrets: notice.secrets }),
    ...(arguments_text === undefined && {
      leftOut: `${arguments_chars} characters of arguments: read them, and decide, at ${approve_url}`,
    }),
    place: `shown in ${topic} by ${proposal.proposer}, aggregator ${aggregator_id}`,
    ...(last && {
      last: {
        approvals: last.by.map((by) => ({ by })),
        settledAt: last.at,
        changes: last.changes,
        more: last.more,
      },
    }),
  };
}

function decided(gate: GateReport, { status, approved_by, rejected_by, reason }: JsonObject): GateReport {
  const names = Array.isArray(approved_by) ? approved_by.map(String) : [];
  return {
    ...gate,
    status: String(status),
    approvals: names.map((by) => ({ by, thumbprint: "", at: "" })),
    ...(rejected_by !== undefined && { rejectedBy: String(rejected_by) }),
    ...(reason !== undefined && { reason: String(reason) }),
  };
}
