// A connection that carries JSON-RPC messages both ways, whatever its medium.
import { isObject, type JsonObject } from "@mcpx/protocol";
import { RoomError } from "../core/room-error.ts";

export interface Channel {
  /** Rejects where the message cannot be on its way. */
  send(message: JsonObject): Promise<void>;
  /** Ends it at once as far as we are concerned: nothing more comes out of it. */
  end(): void;
  /** Resolves when the other side has let go too. */
  readonly released: Promise<void>;
}

export interface ChannelTaker {
  message(message: JsonObject): void;
  /** Called once, unless this side has ended the connection. */
  ended(error: RoomError): void;
}

export interface ChannelOptions {
  /** Sent before anything else. */
  first: JsonObject;
  taker: ChannelTaker;
  parse(text: string): unknown;
}

/** What is larger is no message. */
export const messageCharsMax = 16 * 1_048_576;

export function readMessage(text: unknown, { parse }: Pick<ChannelOptions, "parse">): JsonObject {
  if (typeof text !== "string" || text.length > messageCharsMax) throw unreadable();
  let message: unknown;
  try {
    message = parse(text);
  } catch (cause) {
    throw unreadable(cause);
  }
  if (!isObject(message) || message.jsonrpc !== "2.0") throw unreadable();
  return message;
}

function unreadable(cause?: unknown): RoomError {
  return new RoomError("bad_answer", "the aggregator sent a frame that is not a JSON-RPC message", { cause });
}
