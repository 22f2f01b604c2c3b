// The memory of what has come from a member and is not done: envelopes behind a slow check, and those on their way to the
// log. It is held for the member's principal; an envelope for which there is none left is refused.
import { principalKey } from "@mcpx/host";
import type { Gateway } from "../room/gateway-state.ts";
import type { Member } from "../room/room.ts";
import { isServing } from "../room/senders.ts";

/** So much of one connection is not counted: ordinary envelopes pass whatever else their sender holds. */
const freeBytes = 65_536;
/** An envelope is kept as it came and as it is relayed, beside what was read of it. */
const copies = 2;
const bytesPerEnvelope = 1_024;

/** What one envelope takes, until all who work on it have given it back. */
export interface Kept {
  readonly bytes: number;
  users: number;
}

/** Throws `rate_limited` where it is more than there is left for this principal. */
export function keepInMemory(
  gateway: Pick<Gateway, "ledger" | "options">,
  member: Pick<Member, "backlog" | "principal" | "participant">,
  chars: number,
): Kept {
  const { backlog, principal } = member;
  const bytes = copies * chars + bytesPerEnvelope;
  const all = backlog.bytes + bytes;
  // What one of ours answers was caused by others, who are bounded: no few of them keep it from answering the rest.
  if (all > freeBytes && !isServing(gateway, member)) {
    backlog.hold ??= gateway.ledger.hold({ key: principalKey(principal), isAdmin: principal.admin }, 0);
    backlog.hold.resize(all);
  }
  backlog.bytes = all;
  return { bytes, users: 1 };
}

export function giveBack({ backlog }: Pick<Member, "backlog">, kept: Kept): void {
  kept.users -= 1;
  if (kept.users > 0) return;
  backlog.bytes -= kept.bytes;
  if (backlog.hold === undefined) return;
  if (backlog.bytes > freeBytes) backlog.hold.resize(backlog.bytes);
  else {
    backlog.hold.release();
    backlog.hold = undefined;
  }
}
