// Who comes in, however they came: is there room, may they, and then a member with a wire. Every way in passes here.
import type { Principal } from "@mcpx/host";
import { errorTable, isMcpxError, McpxError } from "@mcpx/protocol";
import { leave } from "../delivery/leave.ts";
import { refuse } from "../delivery/refuse.ts";
import { receive, receiveFault } from "../receiving/receive.ts";
import type { Gateway } from "../room/gateway-state.ts";
import { levelFor } from "../room/level-for.ts";
import { takePlace } from "../room/places.ts";
import type { Member, Room } from "../room/room.ts";
import type { RoomSocket, SocketEvents } from "../transports/socket.ts";
import { type Admission, admit, readWishes } from "./admit.ts";
import { join, type Preparation } from "./join.ts";
import { openRoom } from "./open-room.ts";

export interface Asking {
  query: URLSearchParams;
  /** The subprotocols a handshake offers, as its header has them. */
  offered: string | undefined;
  /** Where it comes from, for the record of those who show no good token. */
  origin: string;
  /** Made in this process: it stands beside the participant's own socket and replaces nothing. */
  isVirtual: boolean;
  who(topic: string): Promise<Principal>;
}

export function checkPlace({ isDraining, connections, limits }: Gateway): void {
  if (isDraining) throw new McpxError("draining", undefined, { retryAfterMs: 1_000 });
  if (connections < limits.connectionsMax) return;
  throw new McpxError("too_many_connections", `the limit is ${limits.connectionsMax}`, {
    retryAfterMs: 5_000,
  });
}

export interface LetIn {
  admission: Admission;
  room: Room;
  /** To be called when the connection is over. */
  givePlaceBack: () => void;
}

export async function letIn(gateway: Gateway, asking: Asking): Promise<LetIn> {
  // The topic is recorded only for who showed a good token: others could fill the disk with made-up names.
  let known: { actor: string; topic?: string } = { actor: asking.origin };
  let givePlaceBack = () => {};
  try {
    const wishes = readWishes(gateway, asking.query, asking.offered);
    const principal = await asking.who(wishes.topic);
    known = { actor: principal.id ?? asking.origin, topic: wishes.topic };
    const { isVirtual } = asking;
    const admission = { ...(await admit(gateway, asking.query, wishes, principal)), isVirtual };
    givePlaceBack = takePlace(gateway, principal);
    const room = await openRoom(gateway, admission.topic, principal);
    judgeAgain(gateway, admission, room);
    return { admission, room, givePlaceBack };
  } catch (error) {
    givePlaceBack();
    noteRefusal(gateway, error, known);
    throw error;
  }
}

/**
 * While the room was being opened, or read from, the token may have been revoked, its owner kicked or demoted, and
 * another connection of theirs may have come in.
 */
function judgeAgain(gateway: Gateway, admission: Admission, room: Room): void {
  const { principal, participant, topic, isVirtual } = admission;
  if (gateway.identity.revocations.isRevoked(principal.jti)) throw new McpxError("token_revoked");
  admission.level = levelFor(gateway, principal, participant.id, topic);
  const isTaken = !isVirtual && room.members.has(participant.id);
  if (isTaken && gateway.options.takeover === "refuse") throw new McpxError("already_connected");
}

function noteRefusal(gateway: Gateway, error: unknown, known: { actor: string; topic?: string }): void {
  if (!isMcpxError(error) || errorTable[error.code].fault !== "caller") return;
  gateway.audit.record({ action: "room.join", reason: error.code, ...known });
}

/** Gives a newcomer its wire; what comes over it goes into the corridor. Throws where it may no longer come in. */
export function attach<Socket extends RoomSocket>(
  gateway: Gateway,
  admission: Admission,
  prepared: Preparation,
  open: (events: SocketEvents) => Socket,
): { socket: Socket; member: Member } {
  const { participant, topic } = admission;
  try {
    // Nothing is waited for from here until it has joined.
    judgeAgain(gateway, admission, prepared.room);
  } catch (error) {
    noteRefusal(gateway, error, { actor: participant.id, topic });
    throw error;
  }
  // Until it has joined there is nobody to speak of: a socket may end before.
  let member: Member | undefined;
  const socket = open({
    text: (text) => member && receive(gateway, member, text),
    // A broken frame layer closes right away: its answer cannot wait.
    fault: (error, isFatal) =>
      member && (isFatal ? refuse(gateway, member, error, undefined) : receiveFault(gateway, member, error)),
    closed: () => member && leave(gateway, member, "left"),
  });
  member = join(gateway, admission, prepared, socket);
  return { socket, member };
}
