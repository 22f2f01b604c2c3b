// The tree's door on standard input and output: one client, one line for each message, both eras as they come.
import type { Readable, Writable } from "node:stream";
import type { Principal } from "@mcpx/host";
import { type JsonObject, McpxError } from "@mcpx/protocol";
import { LineReader } from "../links/line-reader.ts";
import { textOf } from "../mcp/message.ts";
import type { Tree } from "../mcp/tree.ts";
import { createMessageDoor, type MessageDoorOptions } from "./message-door.ts";

export interface StdioDoorOptions extends MessageDoorOptions {
  input: Readable;
  output: Writable;
}

export interface StdioDoor {
  /** Resolves when the client has left and all that was under way is over. */
  readonly closed: Promise<void>;
  /** Ends it from our side. */
  close(): void;
}

/** How many times `queueBytesMax` may wait for a client before it misses what is no answer. */
const burstFactor = 16;

export function serveStdio(tree: Tree, principal: Principal, options: StdioDoorOptions): StdioDoor {
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
  const door = createMessageDoor(tree, principal, channel, options);

  function close(): void {
    if (isClosed) return;
    door.close();
    isClosed = true;
    input.off("data", read);
    input.pause();
    resolveClosed();
  }

  function end(): void {
    if (isEnding || isClosed) return;
    isEnding = true;
    setTimeout(close, limits.drainMs).unref();
    door.end();
  }

  const lines = new LineReader(limits.mcpBodyBytesMax, {
    line(text) {
      if (text.trim() !== "") door.take(text.replace(/^\ufeff/, ""));
    },
    long: () => door.refuse(new McpxError("too_large", `a line may have ${limits.mcpBodyBytesMax} bytes`)),
    unreadable: () => door.refuse(new McpxError("bad_utf8")),
  });
  const read = (chunk: Buffer) => lines.push(chunk);
  input.on("data", read);
  for (const event of ["end", "close", "error"]) input.once(event, end);
  output.on("drain", () => input.resume());
  for (const event of ["close", "error"]) output.once(event, close);
  return { closed, close };
}
