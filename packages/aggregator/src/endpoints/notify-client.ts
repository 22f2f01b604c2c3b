// Notifications to a client while its request is under way: progress where it gave a token, log messages of the level it wants.
import type { JsonObject } from "@mcpx/protocol";
import { isLogLevel, type LogLevel, logLevels } from "../mcp/era.ts";
import { notificationMessage } from "../mcp/message.ts";
import type { Reply } from "./reply.ts";

export interface Notified {
  reply: Pick<Reply, "before">;
  progressToken: unknown;
}

export function notifyClient(
  client: Notified,
  logLevel: LogLevel | undefined,
  method: string,
  params: JsonObject,
): void {
  if (method === "notifications/progress") {
    if (client.progressToken === undefined) return;
    client.reply.before(notificationMessage(method, { ...params, progressToken: client.progressToken }));
  } else if (method !== "notifications/message" || isLoudEnough(params.level, logLevel)) {
    client.reply.before(notificationMessage(method, params));
  }
}

export function isLoudEnough(level: unknown, wanted: LogLevel | undefined): boolean {
  return wanted !== undefined && isLogLevel(level) && logLevels.indexOf(level) >= logLevels.indexOf(wanted);
}
