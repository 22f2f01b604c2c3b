// `/ax` over WebSocket: the registrant opens it, one JSON-RPC message in each text frame. [AX-6.1-3]
import type { UpgradeHandler } from "@mcpx/host";
import { closeCodes, isMcpxError, type Limits, McpxError } from "@mcpx/protocol";
import { type WebSocket, WebSocketServer } from "ws";
import { textOf } from "../mcp/message.ts";
import { checkShape } from "../mcp/parse.ts";
import type { AxVisits } from "./ax-visits.ts";
import type { Channel } from "./channel.ts";
import { readAxMessage } from "./read-ax-message.ts";

const closeReasonCharsMax = 100;
/** Reads of a socket that one frame may take: networks deliver it in pieces of their own. */
const readsPerFragment = 4;
const pongBytesMax = 65_536;
/** Beyond it the other side does not read, whatever it asks for. */
const waitingBytesMax = 32 * 1_048_576;

export function createAxSocket(visits: AxVisits, limits: Limits): UpgradeHandler {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    autoPong: false,
    perMessageDeflate: false,
    maxPayload: limits.mcpBodyBytesMax,
    // Each frame of a message costs more than 100 bytes of memory however few it carries; so does each read of one.
    maxFragments: limits.envelopeFragmentsMax,
    maxBufferedChunks: limits.envelopeFragmentsMax * readsPerFragment,
  });
  return async (request, socket, head, share) => {
    const credential = await visits.identify(request);
    visits.checkPlace(credential);
    server.handleUpgrade(request.raw, socket, head, (opened) => {
      const channel = channelOver(opened, limits);
      const { take } = visits.begin(channel, credential);
      share.onRefused((error) => channel.close(closeCodes.abuse, reasonOf(error)));
      opened.on("message", (data, isBinary) => {
        // What comes behind our close is not read.
        if (opened.readyState !== opened.OPEN) return;
        try {
          if (isBinary) throw new McpxError("not_text");
          checkShape(data as Buffer, limits);
          take(readAxMessage(String(data)));
        } catch (error) {
          channel.close(closeCodes.badFrame, reasonOf(error));
        }
      });
    });
  };
}

function reasonOf(error: unknown): string {
  return isMcpxError(error) ? error.code : "bad_json";
}

/** Only the last of several pings needs a pong (RFC 6455, 5.5.3), and none that would fill the memory. */
function answerLast(socket: WebSocket): (data: Buffer) => void {
  let last: Buffer | undefined;
  const answer = () => {
    if (socket.readyState === socket.OPEN && socket.bufferedAmount < pongBytesMax) socket.pong(last);
    last = undefined;
  };
  return (data) => {
    if (last === undefined) setImmediate(answer);
    last = data;
  };
}

function channelOver(socket: WebSocket, { pingIntervalMs, pingTimeoutMs }: Limits): Channel {
  const { promise: ended, resolve } = Promise.withResolvers<string>();
  let heardAt = performance.now();
  const heard = () => {
    heardAt = performance.now();
  };
  const timer = setInterval(() => {
    if (performance.now() - heardAt > pingTimeoutMs) socket.terminate();
    else socket.ping();
  }, pingIntervalMs).unref();
  socket.on("pong", heard).on("message", heard).on("ping", answerLast(socket));
  // The library says with its own close what is wrong with a frame; nobody shall wait for the answer to that.
  socket.on("error", ({ message }) => resolve(message));
  socket.on("close", (code, reason) => {
    clearInterval(timer);
    resolve(reason.length > 0 ? `${reason} (${code})` : `the connection has ended (${code})`);
  });
  return {
    ended,
    get waitingBytes() {
      return socket.bufferedAmount;
    },
    send(message) {
      if (socket.bufferedAmount > waitingBytesMax) socket.terminate();
      else if (socket.readyState === socket.OPEN) socket.send(textOf(message));
    },
    close(code, why) {
      socket.close(code, why.slice(0, closeReasonCharsMax));
      // A silent peer does not answer this either, and nobody shall wait for it.
      resolve(why);
    },
  };
}
