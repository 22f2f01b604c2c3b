// The tree's door on standard input and output: one client, one line for each message, both eras as they come.
import type { Readable, Writable } from "node:stream";
import type { Clock, Logger, Principal } from "@mcpx/host";
import { isMcpxError, type JsonObject, type Limits, McpxError } from "@mcpx/protocol";
import type { Dialect } from "../names/dialects.ts";
import type { Profile } from "../profile.ts";
import { faultOf, RpcError } from "../rpc-error.ts";
import type { Tree } from "../tree.ts";
import { createLineReplies } from "./line-replies.ts";
import { createLineReader } from "./lines.ts";
import { errorMessage, idOf, type RequestId, textOf } from "./message.ts";
import { parse } from "./parse.ts";
import { createStdioClient } from "./stdio-client.ts";

export interface StdioDoorOptions {
  input: Readable;
  output: Writable;
  log: Logger;
  clock: Clock;
  limits: Limits;
  /** As `?names=` over HTTP. */
  names?: Dialect | undefined;
  profile?: Profile | undefined;
}

export interface StdioDoor {
  /** Resolves when the client has left and all that was under way is over. */
  readonly closed: Promise<void>;
  /** Ends it from our side. */
  close(): void;
}

/** How many times `queueBytesMax` may wait for a client before it misses what is no answer. */
const burstFactor = 16;
const sweepMs = 1_000;

export function serveStdio(tree: Tree, principal: Principal, options: StdioDoorOptions): StdioDoor {
  const { input, output, log, limits } = options;
  const { promise: closed, resolve: resolveClosed } = Promise.withResolvers<void>();
  let isEnding = false;
  let isClosed = false;

  function write(message: JsonObject | JsonObject[]): void {
    if (isClosed || !output.writable) return;
    // A client that does not read is not read from either.
    if (!output.write(`${textOf(message)}\n`)) input.pause();
  }

  function writeAside(message: JsonObject): void {
    if (output.writableLength <= burstFactor * limits.queueBytesMax) write(message);
  }

  function refuse(id: RequestId | null, error: unknown): void {
    if (!isMcpxError(error) && !(error instanceof RpcError)) log.error({ err: error }, "a message failed");
    write(errorMessage(id, faultOf(error)));
  }

  const onEmpty = () => {
    if (isEnding) close();
  };
  const replies = createLineReplies({ write, writeAside, onEmpty });
  const client = createStdioClient({ ...options, tree, principal, replies, writeAside });

  async function take(text: string): Promise<void> {
    let id: RequestId | null = null;
    try {
      const value = parse(text, limits.mcpDepthMax);
      id = idOf(value);
      await client.take(value);
    } catch (error) {
      refuse(id, error);
    }
  }

  function close(): void {
    if (isClosed) return;
    isEnding = false;
    client.close();
    isClosed = true;
    clearInterval(timer);
    input.off("data", read);
    input.pause();
    resolveClosed();
  }

  /** The client says nothing more, but may still read: what it asked before is answered. */
  function end(): void {
    if (isEnding || isClosed) return;
    isEnding = true;
    client.end();
    if (replies.isEmpty) close();
    else setTimeout(close, limits.drainMs).unref();
  }

  const read = createLineReader(limits.mcpBodyBytesMax, {
    line: (text) => void take(text),
    tooLong: () =>
      refuse(null, new McpxError("too_large", `a line may have ${limits.mcpBodyBytesMax} bytes`)),
    unreadable: () => refuse(null, new McpxError("bad_utf8")),
  });
  const timer = setInterval(client.sweep, sweepMs).unref();
  input.on("data", read);
  for (const event of ["end", "close", "error"]) input.once(event, end);
  output.on("drain", () => input.resume());
  for (const event of ["close", "error"]) output.once(event, close);
  return { closed, close };
}
