// Rooms: sessions, levels, presence, the topic log, delivery, REST.
export { createGateway, type GatewayParts, type RunningGateway } from "./create-gateway.ts";
export type { VirtualEnd } from "./rest/enter.ts";
export {
  defaultOptions,
  defaultTopic,
  type GatewayOptions,
  type TopicOptions,
} from "./room/gateway-state.ts";
export { LevelDecisions } from "./room/level-decisions.ts";
export { gatewayMigrations } from "./room/state-schema.ts";
export { RevokedCapabilities } from "./tool-access/revoked-capabilities.ts";
export type { ToolAccessOption } from "./tool-access/tool-access.ts";
export { createMemoryTopicLog } from "./topic-log/memory.ts";
export { createPostgresTopicLog } from "./topic-log/postgres/log.ts";
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
