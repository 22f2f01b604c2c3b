// The tree in the rooms it is a participant of, joined in this process: its tools for their members, and its gates as
// proposals in the one that is told to have them. Where a room cannot be had, everything works without it.
import { type RunningTree, serveTree } from "@mcpx/aggregator";
import type { RunningGateway } from "@mcpx/gateway";
import type { Clock, Logger } from "@mcpx/host";
import type { Limits } from "@mcpx/protocol";
import { joinLocally, ownPrincipal } from "../access/local-gateway.ts";
import { version } from "../framework/version.ts";
import type { TreeSettings } from "../settings/tree-settings.ts";

export interface TreeRoomParts {
  gateway: Pick<RunningGateway, "enter" | "history" | "principalsOf" | "sendersOf">;
  tree: RunningTree;
  clock: Clock;
  log: Logger;
  limits: Limits;
}

/** Under which it is in its rooms. */
export function treeParticipantId({ segment = "tree" }: Pick<TreeSettings, "segment">): string {
  return segment;
}

/** What is opened is closed by `opened`. */
export async function openTreeRooms(
  settings: TreeSettings,
  parts: TreeRoomParts,
  opened: AsyncDisposableStack,
): Promise<void> {
  for (const topic of settings.rooms) {
    try {
      await enter(settings, parts, topic, opened);
    } catch (error) {
      const what = topic === settings.gates.room ? "gates are not shown in it" : "its members do without it";
      parts.log.error({ err: error, room: topic }, `tree could not join a room; ${what}`);
    }
  }
}

async function enter(
  settings: TreeSettings,
  { gateway, tree, clock, log, limits }: TreeRoomParts,
  topic: string,
  opened: AsyncDisposableStack,
): Promise<void> {
  const principal = ownPrincipal(treeParticipantId(settings), topic, "robot");
  const room = await joinLocally(gateway, principal, topic, {
    isSecond: false,
    history: limits.historyPageMax,
    clientInfo: { name: "mcpx", version },
  });
  opened.defer(() => room.close());
  room.addEventListener("error", ({ detail }) =>
    log.debug({ err: detail, room: topic }, "tree participant failed"),
  );
  const showsGates = topic === settings.gates.room;
  if (showsGates && !room.hasHistory) {
    log.warn(
      { room: topic },
      "gate room keeps no history: participants who join later do not see waiting calls",
    );
  }
  const principalsOf = (id: string) => gateway.principalsOf(topic, id);
  const sendersOf = (id: string, envelopeId: string) => gateway.sendersOf(topic, id, envelopeId);
  const who = { principalsOf, sendersOf };
  const participant = await serveTree({ room, tree, ...who, showsGates, clock, log, limits });
  opened.defer(() => participant.close());
  log.info({ room: topic, id: room.id, showsGates }, "tree joined a room");
}
