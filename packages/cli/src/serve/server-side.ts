// One life of an MCP server, whatever carries its messages.
import type { JsonObject } from "@mcpx/protocol";

export interface ServerSide {
  /** Returns false where it cannot take more now. */
  send(message: JsonObject): boolean;
  /** Resolves with why it ended. */
  ended: Promise<string>;
  close(): Promise<void>;
}

export interface ServerTaker {
  message(message: JsonObject): void;
  /** A line for people: what it wrote beside the protocol. */
  remark(line: string): void;
}

export type OpenServer = (taker: ServerTaker) => Promise<ServerSide>;

/** The largest message read; what a room takes is far less. */
export const messageCharsMax = 16 * 1_048_576;
