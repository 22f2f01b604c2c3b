// Shows the room a guard's key and policy. [AC-1-1]
import { isSameKey, policyType } from "@mcpx/protocol";
import { publish } from "../core/room-core.ts";
import type { GuardState } from "./guard-state.ts";

/** Also after every return: gateways that enforce policies keep them no longer than the connection. */
export async function announce({ core, options, policy }: GuardState): Promise<void> {
  const { jwk } = options.key;
  // Where it is the room's own, the room shows it.
  if (!isSameKey(core.key?.jwk, jwk)) await publish(core, { kind: "system", payload: { type: "key", jwk } });
  await publish(core, { kind: "system", payload: { type: policyType, policy } });
}
