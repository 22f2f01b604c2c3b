// A channel over a WebSocket: one message a text frame. [AX-6.1-3]

import type { WebSocketLike } from "../connection/web-socket.ts";
import { RoomError } from "../core/room-error.ts";
import { type Channel, type ChannelOptions, readMessage } from "./channel.ts";
import { asRoomError, closedError } from "./refusal.ts";

export interface SubserverSocket extends WebSocketLike {
  readonly bufferedAmount?: number;
}

export type OpenSocket = (url: string, headers: Record<string, string>) => SubserverSocket;

const waitingBytesMax = 16 * 1_048_576;

/** The platform's own. Node's takes headers, browsers' throw. */
export const openPlatformSocket: OpenSocket = (url, headers) => {
  const { WebSocket } = globalThis as unknown as {
    WebSocket: new (url: string, init: { headers: Record<string, string> }) => SubserverSocket;
  };
  try {
    return new WebSocket(url, { headers });
  } catch (cause) {
    const detail = 'this platform\'s WebSocket takes no token: use transport "http", or give openSocket';
    throw new RoomError("bad_option", detail, { cause });
  }
};

export function openSocketChannel(socket: SubserverSocket, options: ChannelOptions): Channel {
  const { first, taker } = options;
  const released = Promise.withResolvers<void>();
  let isOver = false;
  const close = () => {
    isOver = true;
    try {
      // Only 1000 and 3000 to 4999 may be said by a client.
      socket.close(1000, "");
    } catch {
      // It was never open.
      released.resolve();
    }
  };
  const fail = (error: RoomError) => {
    if (isOver) return;
    close();
    taker.ended(error);
  };
  let remark = "";
  // An error is always followed by a close; some say here what that does not, such as the status of a refusal.
  socket.onerror = ({ message }: { message?: unknown }) => {
    if (typeof message === "string") remark = message;
  };
  socket.onopen = () => {
    if (!isOver) socket.send(JSON.stringify(first));
  };
  socket.onmessage = ({ data }: { data: unknown }) => {
    if (isOver) return;
    try {
      taker.message(readMessage(data, options));
    } catch (error) {
      fail(asRoomError(error));
    }
  };
  socket.onclose = ({ code, reason }: { code: number; reason: string }) => {
    released.resolve();
    if (isOver) return;
    isOver = true;
    taker.ended(closedError(code, String(reason || remark)));
  };
  return {
    released: released.promise,
    end: () => {
      if (!isOver) close();
    },
    send: async (message) => {
      if (isOver) throw new RoomError("network", "the connection has ended");
      socket.send(JSON.stringify(message));
      if ((socket.bufferedAmount ?? 0) > waitingBytesMax) {
        fail(new RoomError("network", "the aggregator does not read its input"));
      }
    },
  };
}
