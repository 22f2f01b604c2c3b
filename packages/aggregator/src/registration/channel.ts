// A connection that carries JSON-RPC messages both ways, whatever its medium.
import type { CloseCode, JsonObject } from "@mcpx/protocol";

export interface Channel {
  /** What cannot be sent any more is lost with the channel. */
  send(message: JsonObject): void;
  /** Bytes that wait to be taken by the other side. */
  readonly waitingBytes: number;
  /** Resolves with why it ended; never rejects. */
  readonly ended: Promise<string>;
  close(code: CloseCode, why: string): void;
}
