// What a client hears while its request is under way: progress where it gave a token, log messages of the level it wants.
import type { JsonObject } from "@mcpx/protocol";
import { isLogLevel, type LogLevel, logLevels } from "../mcp/era.ts";
import { notificationMessage } from "../mcp/message.ts";
import type { Reply } from "./reply.ts";

export interface Ear {
  reply: Pick<Reply, "before">;
  progressToken: unknown;
}

export function hear(ear: Ear, logLevel: LogLevel | undefined, method: string, params: JsonObject): void {
  if (method === "notifications/progress") {
    if (ear.progressToken === undefined) return;
    ear.reply.before(notificationMessage(method, { ...params, progressToken: ear.progressToken }));
  } else if (method !== "notifications/message" || isLoudEnough(params.level, logLevel)) {
    ear.reply.before(notificationMessage(method, params));
  }
}

export function isLoudEnough(level: unknown, wanted: LogLevel | undefined): boolean {
  return wanted !== undefined && isLogLevel(level) && logLevels.indexOf(level) >= logLevels.indexOf(wanted);
}
