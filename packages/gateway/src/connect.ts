// GET /v0/ws: from an HTTP upgrade to a member of a room. [X0-5.2-1]
import type { Duplex } from "node:stream";
import type { UpgradeRequest } from "@mcpx/host";
import { errorTable, isMcpxError, McpxError } from "@mcpx/protocol";
import { type Admission, admit, authenticate, readWishes } from "./admit.ts";
import type { Gateway } from "./gateway-state.ts";
import { join, type Preparation, prepareJoin } from "./join.ts";
import { leave } from "./leave.ts";
import { levelFor } from "./level-for.ts";
import { openRoom } from "./open-room.ts";
import { receive, receiveFault } from "./receive.ts";
import { refuse } from "./refuse.ts";
import type { Member, Room } from "./room.ts";
import { acceptUpgrade, checkUpgrade, WsSocket } from "./transports/ws.ts";

/** Throws before the handshake is answered; the listener turns that into an HTTP error. */
export async function connect(
  gateway: Gateway,
  request: UpgradeRequest,
  duplex: Duplex,
  head: Buffer,
): Promise<void> {
  checkUpgrade(request.raw);
  checkPlace(gateway);
  gateway.connections += 1;
  duplex.once("close", () => {
    gateway.connections -= 1;
  });
  const { admission, room } = await admitAudited(gateway, request);
  // Not to be forgotten as empty before its newcomer is in.
  room.pending += 1;
  try {
    const prepared = await prepareJoin(room, admission, gateway.limits);
    if (duplex.destroyed) return;
    // Shutting down began meanwhile, and has told everybody it knew of.
    if (gateway.isDraining) throw new McpxError("draining", undefined, { retryAfterMs: 1_000 });
    acceptUpgrade(request.raw, duplex, admission.subprotocol);
    attach(gateway, admission, prepared, duplex, head);
  } finally {
    room.pending -= 1;
  }
}

function checkPlace({ isDraining, connections, limits }: Gateway): void {
  if (isDraining) throw new McpxError("draining", undefined, { retryAfterMs: 1_000 });
  if (connections < limits.connectionsMax) return;
  throw new McpxError("too_many_connections", `the limit is ${limits.connectionsMax}`, {
    retryAfterMs: 5_000,
  });
}

async function admitAudited(
  gateway: Gateway,
  request: UpgradeRequest,
): Promise<{ admission: Admission; room: Room }> {
  // The topic is recorded only for who showed a good token: others could fill the disk with made-up names.
  let known: { actor: string; topic?: string } = { actor: request.remoteAddress };
  try {
    const wishes = readWishes(gateway, request);
    const principal = await authenticate(gateway, request, wishes.topic);
    known = { actor: principal.id ?? request.remoteAddress, topic: wishes.topic };
    const admission = admit(gateway, request.query, wishes, principal);
    const room = await openRoom(gateway, admission.topic);
    judgeAgain(gateway, admission);
    if (gateway.options.takeover === "refuse" && room.members.has(admission.participant.id)) {
      throw new McpxError("already_connected");
    }
    return { admission, room };
  } catch (error) {
    if (isMcpxError(error) && errorTable[error.code].fault === "caller") {
      gateway.audit.record({ action: "room.join", reason: error.code, ...known });
    }
    throw error;
  }
}

/** While the room was being opened the token may have been revoked, or its owner kicked or demoted. */
function judgeAgain(gateway: Gateway, admission: Admission): void {
  const { principal, participant, topic } = admission;
  if (gateway.identity.revocations.isRevoked(principal.jti)) throw new McpxError("token_revoked");
  admission.level = levelFor(gateway, principal, participant.id, topic);
}

function attach(
  gateway: Gateway,
  admission: Admission,
  prepared: Preparation,
  duplex: Duplex,
  head: Buffer,
): void {
  // Until it has joined there is nobody to speak of: a socket may end before.
  let member: Member | undefined;
  const socket = new WsSocket(duplex, gateway.limits, gateway.clock.monotonic, {
    text: (text) => member && receive(gateway, member, text),
    // A broken frame layer closes right away: its answer cannot wait.
    fault: (error, isFatal) =>
      member && (isFatal ? refuse(gateway, member, error, undefined) : receiveFault(gateway, member, error)),
    closed: () => member && leave(gateway, member, "left"),
  });
  member = join(gateway, admission, prepared, socket);
  socket.start(head);
}
