// One client on a channel of its own that carries whole messages, whatever the channel is: what it says is answered, in
// the era it speaks.
import type { Clock, Logger, Principal } from "@mcpx/host";
import { isMcpxError, type JsonObject, type Limits } from "@mcpx/protocol";
import { errorMessage, idOf, type RequestId } from "../mcp/message.ts";
import { parse } from "../mcp/parse.ts";
import type { Profile } from "../mcp/profile.ts";
import { faultOf, RpcError } from "../mcp/rpc-error.ts";
import type { Tree } from "../mcp/tree.ts";
import type { Dialect } from "../names/dialects.ts";
import { createLineReplies } from "./line-replies.ts";
import { createStdioClient } from "./stdio-client.ts";

export interface MessageEndpointOptions {
  log: Logger;
  clock: Clock;
  limits: Limits;
  /** As `?names=` over HTTP. */
  names?: Dialect | undefined;
  profile?: Profile | undefined;
  /** It is the tree above us, and this is what it calls us. */
  ownSegment?: string | undefined;
}

export interface MessageChannel {
  write(message: JsonObject | JsonObject[]): void;
  /** May leave it out where the client does not read. */
  writeAside(message: JsonObject): void;
  /** The client does not read what it was sent. */
  isBehind(): boolean;
  /** Nothing is under way any more, and the client asks nothing more. */
  onDone(): void;
}

export interface MessageEndpoint {
  take(text: string): void;
  /** A message that was parsed already. */
  takeMessage(message: unknown): void;
  /** What could not be read at all. */
  refuse(error: unknown): void;
  /** The client says nothing more, but may still read: what it asked before is answered. */
  end(): void;
  close(): void;
}

const sweepMs = 1_000;

export function createMessageEndpoint(
  tree: Tree,
  principal: Principal | (() => Principal),
  { write, writeAside, isBehind, onDone }: MessageChannel,
  options: MessageEndpointOptions,
): MessageEndpoint {
  const { log, limits } = options;
  let isEnding = false;

  function refuse(error: unknown, id: RequestId | null = null): void {
    if (!isMcpxError(error) && !(error instanceof RpcError))
      log.error({ err: error }, "could not handle a message");
    write(errorMessage(id, faultOf(error)));
  }

  const onEmpty = () => {
    if (isEnding) onDone();
  };
  const replies = createLineReplies({ write, writeAside, isBehind, onEmpty });
  const client = createStdioClient({ ...options, tree, principal, replies, writeAside, isBehind });
  const timer = setInterval(client.sweep, sweepMs).unref();

  function take(text: string): void {
    try {
      takeMessage(parse(text, limits));
    } catch (error) {
      refuse(error);
    }
  }

  function takeMessage(message: unknown): void {
    client.take(message).catch((error: unknown) => refuse(error, idOf(message)));
  }

  return {
    take,
    takeMessage,
    refuse: (error) => refuse(error),
    end() {
      isEnding = true;
      client.end();
      if (replies.isEmpty) onDone();
    },
    close() {
      isEnding = false;
      clearInterval(timer);
      client.close();
    },
  };
}
