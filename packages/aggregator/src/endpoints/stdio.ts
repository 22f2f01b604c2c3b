// The tree's endpoint on standard input and output: one client, one line for each message, both eras as they come.
import type { Readable, Writable } from "node:stream";
import type { Principal } from "@mcpx/host";
import { type JsonObject, McpxError } from "@mcpx/protocol";
import { LineReader } from "../links/line-reader.ts";
import { textOf } from "../mcp/message.ts";
import type { Tree } from "../mcp/tree.ts";
import { createMessageEndpoint, type MessageEndpointOptions } from "./message-endpoint.ts";

export interface StdioEndpointOptions extends MessageEndpointOptions {
  input: Readable;
  output: Writable;
}

export interface StdioEndpoint {
  /** Resolves when the client has left and all that was under way is over. */
  readonly closed: Promise<void>;
  /** Ends it from our side. */
  close(): void;
}

/** How many times `queueBytesMax` may wait for a client before it misses what is no answer. */
const burstFactor = 16;

export function serveStdio(tree: Tree, principal: Principal, options: StdioEndpointOptions): StdioEndpoint {
  const { input, output, limits } = options;
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

  const isBehind = () => output.writableLength > limits.queueBytesMax;
  const channel = { write, writeAside, isBehind, onDone: close };
  const endpoint = createMessageEndpoint(tree, principal, channel, options);

  function close(): void {
    if (isClosed) return;
    endpoint.close();
    isClosed = true;
    input.off("data", read);
    input.pause();
    resolveClosed();
  }

  function end(): void {
    if (isEnding || isClosed) return;
    isEnding = true;
    setTimeout(close, limits.drainMs).unref();
    endpoint.end();
  }

  const lines = new LineReader(limits.mcpBodyBytesMax, {
    line(text) {
      if (text.trim() !== "") endpoint.take(text.replace(/^\ufeff/, ""));
    },
    long: () =>
      endpoint.refuse(new McpxError("too_large", `a line may have ${limits.mcpBodyBytesMax} bytes`)),
    unreadable: () => endpoint.refuse(new McpxError("bad_utf8")),
  });
  const read = (chunk: Buffer) => lines.push(chunk);
  input.on("data", read);
  for (const event of ["end", "close", "error"]) input.once(event, end);
  output.on("drain", () => input.resume());
  for (const event of ["close", "error"]) output.once(event, close);
  return { closed, close };
}
