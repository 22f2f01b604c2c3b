// `mcpax/heartbeat`: a sign of life of the subserver that registered on this connection. [AX-6.3-3]
import { deadlineMs, type JsonObject, leaseMs, McpxError } from "@mcpx/protocol";
import { lose, revive } from "./lose.ts";
import type { RegistrarState, Subserver } from "./registrar.ts";
import { remove } from "./remove.ts";

export async function heartbeat(state: RegistrarState, subserver: Subserver): Promise<JsonObject> {
  const { subserverId, heartbeatMs } = subserver.registration;
  const heardAt = state.clock.monotonic();
  // A heartbeat that waited while this process was stopped proves nothing: its sender may be elsewhere by now.
  if (heartbeatMs !== 0 && heardAt - subserver.heardAt >= deadlineMs(heartbeatMs)) {
    lose(state, subserver, "it has missed three heartbeats");
    throw new McpxError("registration_unknown", "three heartbeats were missed");
  }
  // Whether somebody else has become its owner meanwhile.
  if (!(await state.store.renew(subserverId, subserver.sessionId, leaseMs(heartbeatMs)))) {
    remove(state, subserver, "another aggregator owns it now");
    throw new McpxError("registration_unknown", "another aggregator owns it now");
  }
  revive(state, subserver, heardAt);
  return { status: "alive" };
}
