// A participant's further connection to a room, made in this process. It is a member like any other, under every rule
// of the corridor; only its wire is memory, and it neither replaces the participant's own socket nor is replaced.
import type { Principal } from "@mcpx/host";
import { McpxError } from "@mcpx/protocol";
import { prepareJoin } from "../joining/join.ts";
import { attach, checkPlace, letIn } from "../joining/let-in.ts";
import type { Gateway } from "../room/gateway-state.ts";
import { speaksFor } from "../room/present.ts";
import { type MemoryEnd, MemorySocket } from "../transports/memory.ts";
import { checkTopic } from "./caller.ts";
import { historyText } from "./history.ts";

export interface VirtualEnd extends MemoryEnd {
  /** Another connection of the participant is the one to answer what it is asked. */
  isSecond(): boolean;
}

/** Takes the query of `GET /v0/ws`, without ticket; rejects with the error that address would answer. */
export async function enter(
  gateway: Gateway,
  principal: Principal,
  query: URLSearchParams,
): Promise<VirtualEnd> {
  checkPlace(gateway);
  gateway.connections += 1;
  let isAttached = false;
  let giveBack = () => {};
  try {
    const { admission, room, givePlaceBack } = await letIn(gateway, {
      query,
      offered: undefined,
      origin: "in-process",
      isVirtual: true,
      who: async () => stillGood(gateway, principal),
    });
    giveBack = givePlaceBack;
    room.pending += 1;
    try {
      const prepared = await prepareJoin(room, admission, gateway.limits);
      if (gateway.isDraining) throw new McpxError("draining", undefined, { retryAfterMs: 1_000 });
      stillGood(gateway, principal);
      const { limits, clock } = gateway;
      const { socket, member } = attach(gateway, admission, prepared, (events) => {
        const closed = () => {
          gateway.connections -= 1;
          givePlaceBack();
          events.closed();
        };
        return new MemorySocket(limits, clock.monotonic, { ...events, closed });
      });
      isAttached = true;
      return Object.assign(socket.far, { isSecond: () => !speaksFor(member) });
    } finally {
      room.pending -= 1;
    }
  } finally {
    if (!isAttached) {
      gateway.connections -= 1;
      giveBack();
    }
  }
}

/** A page of a topic's past for somebody who is known already: the body of `GET /v0/topics/{topic}/history`. */
export async function pastOf(
  gateway: Gateway,
  principal: Principal,
  topic: string,
  query: URLSearchParams,
): Promise<string> {
  await checkTopic(gateway, stillGood(gateway, principal), topic);
  return historyText(gateway, topic, query);
}

/** The token was verified when the principal was made of it; its end may have come since. */
function stillGood({ identity, clock }: Gateway, principal: Principal): Principal {
  if (identity.revocations.isRevoked(principal.jti)) throw new McpxError("token_revoked");
  if (clock.now() >= principal.expiresAt) throw new McpxError("token_expired");
  return principal;
}
