// What the gateway remembers for topics whose calls it checks: policies as they were declared, capabilities that were
// seen or revoked, signatures that were found good. [AC-6-1]
import { type AccessPolicy, VerifiedTokens } from "@mcpx/protocol";
import type { Room } from "../room/room.ts";
import type { RevokedCapabilityStore } from "../state/room-state.ts";
import { RevokedCapabilities } from "./revoked-capabilities.ts";
import { SeenCapabilities } from "./seen-capabilities.ts";

/** `enforce`, or a policy for everybody's tools in the topic beside the owners' own. [AC-9-6] */
export type ToolAccessOption = "off" | "enforce" | AccessPolicy;

const policiesPerRoomMax = 1_000;

export class ToolAccess {
  readonly revoked: RevokedCapabilities;
  readonly seen = new SeenCapabilities();
  readonly verified = new VerifiedTokens();
  readonly #policies = new WeakMap<Room, Map<string, AccessPolicy>>();

  constructor(revoked: RevokedCapabilityStore) {
    this.revoked = new RevokedCapabilities(revoked);
  }

  policyOf(room: Room, owner: string): AccessPolicy | undefined {
    return this.#policies.get(room)?.get(owner);
  }

  /** The newest replaces the older. [AC-1-1] */
  declare(room: Room, owner: string, policy: AccessPolicy): void {
    const policies = this.#policies.get(room) ?? new Map<string, AccessPolicy>();
    this.#policies.set(room, policies);
    policies.delete(owner);
    const [oldest] = policies.keys();
    if (policies.size >= policiesPerRoomMax && oldest !== undefined) policies.delete(oldest);
    policies.set(owner, policy);
  }
}
