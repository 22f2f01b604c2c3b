// The wire of a conversation with a registered server: the channel that it opened itself.
import { type JsonObject, McpxError } from "@mcpx/protocol";
import type { Wire, WireTaker } from "../links/wire.ts";
import type { Channel } from "./channel.ts";

const waitingBytesMax = 16 * 1_048_576;
const sent = Promise.resolve();

/** To whom the channel's messages go while a conversation is held over it. */
export interface WireEnd {
  taker: WireTaker | undefined;
}

/** `refusal`: why nothing may be sent at this moment, whatever it is. [AX-13.3-3] */
export function openChannelWire(
  channel: Channel,
  end: WireEnd,
  refusal: () => McpxError | undefined,
  taker: WireTaker,
): Wire {
  const detached = Promise.withResolvers<string>();
  let isOver = false;
  void channel.ended.then(() => {
    isOver = true;
  });
  end.taker = taker;
  return {
    hasStreams: false,
    ended: Promise.race([channel.ended, detached.promise]),
    send(message: JsonObject) {
      if (isOver) return Promise.reject(new McpxError("server_unreachable", "its connection has ended"));
      const refused = refusal();
      if (refused !== undefined) return Promise.reject(refused);
      if (channel.waitingBytes > waitingBytesMax) {
        return Promise.reject(new McpxError("server_unreachable", "it does not read its input"));
      }
      channel.send(message);
      return sent;
    },
    /** The conversation ends; the registration and its channel stay. */
    async close() {
      isOver = true;
      if (end.taker === taker) end.taker = undefined;
      detached.resolve("it was closed");
    },
  };
}
