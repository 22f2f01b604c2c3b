// The little of the standard WebSocket that is used: browsers, Node and most libraries have it.

export interface WebSocketLike {
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
  send(text: string): void;
  close(code?: number, reason?: string): void;
}

export type WebSocketConstructor = new (url: string) => WebSocketLike;

/** How one connection ended. 1006 without a reason is what the network does. */
export interface Ending {
  code: number;
  reason: string;
}

interface Session {
  send(text: string): void;
  /** Ends it at once as far as we are concerned; `ended` resolves. */
  end(ending: Ending): void;
  readonly ended: Promise<Ending>;
  /** Resolves when the other side has let go too. */
  readonly released: Promise<void>;
}

export type { Session };

/** Opens a connection; after its end no more text comes out of it. */
export function openSession(open: () => WebSocketLike, onText: (text: string) => void): Session {
  const ended = Promise.withResolvers<Ending>();
  const released = Promise.withResolvers<void>();
  const socket = open();
  let isOver = false;
  const end = (ending: Ending) => {
    if (isOver) return;
    isOver = true;
    socket.onmessage = null;
    ended.resolve(ending);
  };
  // An error is always followed by a close, which says what there is to say.
  socket.onerror = () => {};
  socket.onmessage = ({ data }: { data: unknown }) => {
    if (typeof data === "string") onText(data);
  };
  socket.onclose = ({ code, reason }: { code: number; reason: string }) => {
    socket.onclose = null;
    end({ code, reason: String(reason ?? "") });
    released.resolve();
  };
  return {
    ended: ended.promise,
    released: released.promise,
    send: (text) => {
      if (isOver) return;
      try {
        socket.send(text);
      } catch {
        // Between closing and being closed: what was not acknowledged is sent again.
      }
    },
    end: (ending) => {
      end(ending);
      try {
        // Only 1000 and 3000 to 4999 may be said by a client.
        socket.close(1000, "");
      } catch {
        released.resolve();
      }
    },
  };
}
