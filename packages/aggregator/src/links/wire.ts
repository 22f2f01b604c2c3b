// What carries JSON-RPC messages to a server and back: a child's standard streams, streamable HTTP, the SSE transport
// of 2024. A wire knows nothing of MCP's methods beyond the headers its medium wants, and nothing of the server's name.
import type { JsonObject } from "@mcpx/protocol";

export interface Sending {
  /** Messages that come on this request's own stream, its answer among them. Where a medium has no such streams, they go to the taker. */
  take(message: JsonObject): void;
  /** `Mcp-*` headers; media without headers leave them out. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Ends the stream: what a modern server over HTTP takes for a cancellation. */
  signal?: AbortSignal | undefined;
  /** It changes nothing, so it may be sent twice where nobody knows whether the first one arrived. */
  isRepeatable?: boolean | undefined;
}

export interface WireTaker {
  message(message: JsonObject): void;
  /** A line for people. */
  logLine(line: string): void;
  /** The other side cannot be reached, and why; `undefined` when it can again. */
  reach?(why: string | undefined): void;
  /** The answer to this came and cannot be read. */
  unreadable?(id: string | number, detail: string): void;
}

export interface Wire {
  /** Whether each request has a stream of its own. */
  readonly hasStreams: boolean;
  /** `false` where the other side tells its conversations apart and this has no name. */
  readonly hasSession?: boolean | undefined;
  /**
   * Resolves when it is sent and its own stream, if there is one, is over. Rejects with an `HttpRefusal` or an `McpxError`:
   * `server_unreachable` where it was not sent, `server_lost` where it may have been, `bad_server_answer`.
   */
  send(message: JsonObject, sending?: Sending): Promise<void>;
  /** Reads nothing for a moment: what floods us waits on its own side. */
  pause?(): void;
  /** Of the child at its other end, where there is one. */
  readonly pid?: number | undefined;
  /** Resolves with why it ended; never rejects. */
  readonly ended: Promise<string>;
  close(): Promise<void>;
}
