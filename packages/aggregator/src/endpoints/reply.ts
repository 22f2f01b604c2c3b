// Where what belongs to one request goes, whatever carries it.
import type { JsonObject } from "@mcpx/protocol";

export interface Reply {
  /** The client does not read what it was sent. */
  readonly isBehind: boolean;
  /** Something that comes before the answer. */
  before(message: JsonObject): void;
  /** The answer; nothing comes after it. The status is for HTTP, where nothing came before. */
  answer(message: JsonObject | JsonObject[], status?: number): void;
  /** Ends without an answer: the client has taken its request back. */
  drop(): void;
  /** Calls back when nobody waits for the answer any more. */
  onCut(callback: () => void): void;
}
