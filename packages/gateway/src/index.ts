// Rooms: sessions, levels, presence, the topic log, delivery, REST.

export { createNeighbours, type Neighbours } from "./cluster/neighbours.ts";
export { type NewsFeed, openNewsFeed } from "./cluster/news.ts";
export { createOwnership, type Ownership } from "./cluster/ownership.ts";
export { createGateway, type GatewayParts, type RunningGateway } from "./create-gateway.ts";
export type { VirtualEnd } from "./rest/enter.ts";
export {
  defaultOptions,
  defaultTopic,
  type GatewayOptions,
  type TopicOptions,
} from "./room/gateway-state.ts";
export { LevelDecisions } from "./room/level-decisions.ts";
export { createPostgresRoomState, roomsOnPostgres } from "./state/room-state-postgres.ts";
export { createSqliteRoomState } from "./state/room-state-sqlite.ts";
export { gatewayMigrations } from "./state/state-schema.ts";
export { RevokedCapabilities } from "./tool-access/revoked-capabilities.ts";
export type { ToolAccessOption } from "./tool-access/tool-access.ts";
export { createMemoryTopicLog } from "./topic-log/memory.ts";
export { createPostgresTopicLog } from "./topic-log/postgres/log.ts";
export { createPostgresTopicOwners, type TopicOwner, type TopicOwners } from "./topic-log/postgres/owners.ts";
export { postgresTopicLogStore } from "./topic-log/postgres/schema.ts";
export { topicLogStore } from "./topic-log/schema.ts";
export { createSqliteTopicLog, openTopicLogReader, type TopicLogTuning } from "./topic-log/sqlite.ts";
export type {
  Appended,
  Bounds,
  Entry,
  NewEntry,
  ReadOptions,
  Retention,
  TopicLog,
} from "./topic-log/topic-log.ts";
