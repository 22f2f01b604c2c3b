// As whom a person on the platform speaks in a room.
import { createHash } from "node:crypto";
import { isId } from "@mcpx/protocol";
import type { PlatformUser } from "../platform.ts";
import type { Member } from "../rooms/bridge-rooms.ts";
import type { BridgeOptions } from "./bridge-core.ts";

/** Undefined for those who only read. The link is read anew each time: it may have been removed meanwhile. */
export async function memberOf(options: BridgeOptions, user: PlatformUser): Promise<Member | undefined> {
  const link = await options.store.linkOf(options.name, user.key);
  if (link !== undefined) {
    const { participant, level, id } = link;
    return { participant, level, linkId: id };
  }
  if (options.unlinked === "read") return undefined;
  return {
    participant: guestId(options.kind, user.key),
    name: user.name?.slice(0, 100),
    level: "restricted",
  };
}

/** Under a prefix that no token can have. */
function guestId(kind: string, key: string): string {
  const plain = `${kind}:${key}`;
  if (isId(plain)) return plain;
  return `${kind}:~${createHash("sha256").update(key).digest("hex").slice(0, 32)}`;
}
