// Rooms on chat platforms and phones.

export type { Presses, ProvenPress } from "./cards/presses.ts";
export type { BridgeLog, BridgeOptions } from "./engine/bridge-core.ts";
export { type Bridge, type ChannelFacts, createBridge } from "./engine/create-bridge.ts";
export { issueCode } from "./engine/link-user.ts";
export {
  type Platform,
  type PlatformAbilities,
  PlatformError,
  type PlatformEvents,
  type PlatformUser,
  type Press,
  type Said,
  type Verb,
} from "./platform.ts";
export { type PlatformKind, platformKinds } from "./platform-kinds.ts";
export { createDiscordPlatform, type DiscordOptions } from "./platforms/discord.ts";
export { createMatrixPlatform, type MatrixOptions } from "./platforms/matrix.ts";
export { createNtfyPlatform, type NtfyOptions } from "./platforms/ntfy.ts";
export { createSlackPlatform, type SlackOptions } from "./platforms/slack.ts";
export {
  createWebhookPlatform,
  createWebhookVerifier,
  type ReceivedWebhook,
  signWebhook,
  type WebhookOptions,
} from "./platforms/webhook.ts";
export { createXmppPlatform, type XmppOptions } from "./platforms/xmpp.ts";
export { arePushKeys } from "./push/encrypt-push.ts";
export type { PushDevice, PushStore } from "./push/push-store.ts";
export { createPostgresPushStore } from "./push/push-store-postgres.ts";
export { createSqlitePushStore } from "./push/push-store-sqlite.ts";
export { isPushEndpoint, sendPush } from "./push/send-push.ts";
export type { BridgeRooms, Member } from "./rooms/bridge-rooms.ts";
export type { BridgeStore, Card, Link } from "./store/bridge-store.ts";
export { type AskPostgres, bridgesOnPostgres } from "./store/postgres.ts";
export { createPostgresStore } from "./store/store-postgres.ts";
export { bridgeMigrations, createSqliteStore } from "./store/store-sqlite.ts";
export { type Button, type Part, type Post, plainText } from "./text/post.ts";
