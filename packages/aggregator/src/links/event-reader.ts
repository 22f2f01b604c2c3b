// Server-sent events out of bytes that others write, each up to a bound.
import { EventReader, McpxError } from "@mcpx/protocol";
import { LineReader } from "./line-reader.ts";

export interface EventBytes {
  push(chunk: Buffer): void;
  readonly lastId: string | undefined;
  readonly retryMs: number | undefined;
}

/**
 * Events without data are not told of. Those past the bound are `lost`, told with their first and last characters;
 * without somebody to tell, `push` throws `bad_server_answer`.
 */
export function readEventBytes(
  bytesMax: number,
  take: (data: string, type: string) => void,
  lost?: (head: string, tail: string) => void,
): EventBytes {
  const tooLarge = () => {
    if (lost === undefined)
      throw new McpxError("bad_server_answer", `it sent an event of more than ${bytesMax} bytes`);
  };
  const event = (data: string, type: string) => {
    if (data !== "") take(data, type);
  };
  const events = new EventReader(bytesMax, { event, tooLarge });
  const longOver = (head: string, tail: string) => lost?.(head.replace(/^data: ?/, ""), tail);
  const lines = new LineReader(
    bytesMax,
    { line: (line) => events.line(line), long: tooLarge, longOver },
    true,
  );
  return {
    push: (chunk) => lines.push(chunk),
    get lastId() {
      return events.lastId;
    },
    get retryMs() {
      return events.retryMs;
    },
  };
}
