// Gives a member what it missed, in order and at the pace it reads, then lets it go live. [B-RESUME-1]
import { closeCodes } from "@mcpx/protocol";
import { deliverOne } from "../delivery/deliver.ts";
import { expel } from "../delivery/leave.ts";
import type { Gateway } from "../room/gateway-state.ts";
import type { Member } from "../room/room.ts";

const pageSize = 32;
/** So little is finished in one turn, or a busy room would never be caught up with. */
const restMax = 256;

export async function catchUp(gateway: Gateway, member: Member): Promise<void> {
  const { room, socket } = member;
  member.isCatchingUp = true;
  // Checked and left in the same turn, so that nothing is delivered live in between.
  while (!member.hasLeft && member.position < room.deliveredSeq) {
    const page = await room.log.read(room.topic, {
      after: member.position,
      // What is committed and not yet handed on comes live: only then is it known which connection said it.
      before: room.deliveredSeq + 1,
      limit: pageSize,
      order: "oldest_first",
    });
    const first = page[0];
    if (first === undefined || first.seq !== member.position + 1) {
      // Trimmed under its feet: it comes back and is told so plainly, rather than given a gap.
      expel(gateway, member, closeCodes.tooSlow, "history_trimmed");
      return;
    }
    for (const entry of page) {
      await socket.drained();
      if (member.hasLeft) return;
      deliverOne(gateway, member, entry);
    }
    if (room.deliveredSeq - member.position > restMax) await socket.turn();
  }
  member.isCatchingUp = false;
}
