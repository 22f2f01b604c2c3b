// What `mcpax.status` says of a server because it registered.
import type { JsonObject } from "@mcpx/protocol";
import type { RegistrarState, Subserver } from "./registrar.ts";

export function describeSubserver({ clock }: RegistrarState, subserver: Subserver): JsonObject {
  const { registration, standing, epoch, heardAt, registeredAt } = subserver;
  const { subserverId, authority, heartbeatMs, transport, subtreeIds } = registration;
  // What somebody only says it stands for is not shown.
  const hasAuthority = authority !== undefined && standing.identity === `dns:${authority}`;
  return {
    registered: true,
    subserver_id: subserverId,
    session: shownSession(subserver),
    epoch,
    registered_at: new Date(registeredAt).toISOString(),
    transport_class: transport,
    aggregator: subtreeIds !== undefined,
    heartbeat: { interval_ms: heartbeatMs, last_ms_ago: Math.round(clock.monotonic() - heardAt) },
    scope: standing.scope,
    proven: standing.isProven,
    authority: hasAuthority ? standing.identity : null,
  };
}

/** The session's id is for its owner; a part of it is enough to tell two apart. */
export function shownSession({ sessionId }: Pick<Subserver, "sessionId">): string {
  return sessionId.slice(0, 8);
}
