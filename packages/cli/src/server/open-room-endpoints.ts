// The MCP endpoints of rooms: an endpoint like the tree's, with a connection in the room for everybody who comes.

import type { LocalRooms } from "@mcpx/aggregator";
import {
  createHttpEndpoint,
  createRoomConnections,
  createRoomEndpoint,
  type HttpEndpoint,
  roomEndpointPath,
  roomOf,
} from "@mcpx/aggregator";
import type { ByteLedger, Clock, Identity, IssuerConfig, Logger, SpanStarter } from "@mcpx/host";
import type { Limits } from "@mcpx/protocol";
import { joinAsScout, joinLocally, ownPrincipal, type Rooms, scoutId } from "../access/local-gateway.ts";
import { version } from "../framework/version.ts";
import type { TreeSettings } from "../settings/tree-settings.ts";
import { treeParticipantId } from "./open-tree-rooms.ts";

export interface RoomParts {
  rooms: Rooms;
  identity: Identity;
  issuers: readonly IssuerConfig[];
  clock: Clock;
  log: Logger;
  limits: Limits;
  ledger: ByteLedger;
  /** Whether clients sign in at this gateway itself. */
  isIssuer: boolean;
  tracer: SpanStarter | undefined;
}

/** Participants of this process's own: nobody comes in under their names with a token. */
export function ownIds(settings: TreeSettings): string[] {
  return [...new Set([scoutId, ...servingIds(settings), ...settings.roomServerIds])];
}

/** Those that answer others. What the rest ask, others have them ask: the room's rate is for those too. */
export function servingIds(settings: TreeSettings): string[] {
  return settings.rooms.length === 0 ? [] : [treeParticipantId(settings)];
}

/** The rooms of this gateway, for servers of the tree that are one. What the tree is itself is no peer of it. */
export function localRooms(rooms: Rooms, settings: TreeSettings): LocalRooms {
  const own = new Set(ownIds(settings));
  return {
    join: (topic, id) =>
      joinLocally(rooms, ownPrincipal(id, topic), topic, {
        isSecond: false,
        clientInfo: { name: "mcpx", version },
      }),
    isOwn: (id) => own.has(id),
  };
}

/** How far back a connection looks for proposals that still wait. */
const history = 500;

/** What is opened is closed by `opened`. */
export function openRoomEndpoints(
  { rooms, ...parts }: RoomParts,
  opened: AsyncDisposableStack,
): HttpEndpoint {
  const { identity, issuers, clock, log, limits, ledger } = parts;
  const roomConnections = createRoomConnections({
    join: (principal, topic) => joinLocally(rooms, principal, topic, { history }),
    joinAsScout: (topic) => joinAsScout(rooms, topic),
    isLeftOut: (id) => id === scoutId,
    version,
    secret: identity.secret("rooms"),
    clock,
    log,
    tracer: parts.tracer,
    limits,
    ledger,
  });
  opened.defer(() => roomConnections.close());
  return createHttpEndpoint({
    tree: createRoomEndpoint(roomConnections),
    identity,
    log,
    clock,
    limits,
    ledger,
    issuers,
    isIssuer: parts.isIssuer,
    profiles: new Map(),
    paths: [roomEndpointPath],
    resourcePath: roomEndpointPath,
    placeOf: roomOf,
  });
}
