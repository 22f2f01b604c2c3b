// Everything the tree keeps while it runs.
import type { Audit, Clock, Logger } from "@mcpx/host";
import type { Server } from "./server.ts";
import type { Subscriber } from "./subscriptions.ts";

export interface TreeState {
  readonly name: string;
  readonly version: string;
  /** Our own segment, below a parent or as configured. */
  readonly segment: string | undefined;
  readonly bySegment: Map<string, Server>;
  root: Server | undefined;
  readonly subscribers: Set<Subscriber>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly audit: Audit | undefined;
  /** Key of the seals on task ids. */
  readonly secret: Uint8Array;
  isClosed: boolean;
}

export function serversOf(state: TreeState): Server[] {
  return state.root === undefined ? [...state.bySegment.values()] : [state.root, ...state.bySegment.values()];
}
