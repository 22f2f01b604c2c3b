// Metrics of the tree for the person who is logged in at the console: its calls, how its servers are, what was dropped, and
// the trees above.
import {
  notificationsDropped,
  type RunningTree,
  serverStatus,
  serversOf,
  shownFigures,
} from "@mcpx/aggregator";
import type { JsonObject } from "@mcpx/protocol";

export function showFigures({ state }: RunningTree): JsonObject {
  return {
    ...shownFigures(state.calls, state.clock.now()),
    name: state.name,
    version: state.version,
    servers: serversOf(state).map((server) => serverStatus(state, server)),
    dropped: notificationsDropped(state),
    parents: [...state.parents()],
  };
}
