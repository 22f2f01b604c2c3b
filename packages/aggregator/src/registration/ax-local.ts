// `/ax` for those in this process: no network and no token, but every rule of a registration, and messages as text.
import type { SubserverSocket } from "@mcpx/client/subserver";
import type { Principal } from "@mcpx/host";
import { type CloseCode, closeCodes, isMcpxError, type JsonObject, type Limits } from "@mcpx/protocol";
import { textOf } from "../mcp/message.ts";
import { checkShape } from "../mcp/parse.ts";
import type { AxVisits } from "./ax-visits.ts";
import { readAxMessage } from "./read-ax-message.ts";
import type { Registrant } from "./serve-registrant.ts";

/** Opens a connection for a principal this process vouches for; `equipment` is what stands behind it. */
export type EnterLocally = (principal: Principal, equipment?: JsonObject) => SubserverSocket;

type Handler = (event: unknown) => void;

const leftCode = 1000;

export function createAxLocal(visits: AxVisits, limits: Limits): EnterLocally {
  return (principal, equipment) => {
    const { promise: ended, resolve } = Promise.withResolvers<string>();
    let registrant: Registrant | undefined;
    let isOver = false;
    const socket: SubserverSocket = {
      onopen: null,
      onmessage: null,
      onclose: null,
      onerror: null,
      send: (text) => later(() => hear(text)),
      close: (code = leftCode, reason = "") => end(code, reason),
    };
    /** Neither side runs inside the other's call. */
    const later = (what: () => void) => {
      setImmediate(() => {
        if (!isOver) what();
      });
    };
    const end = (code: number, reason: string) => {
      if (isOver) return;
      isOver = true;
      resolve(reason === "" ? "it has left" : reason);
      setImmediate(() => tell(socket.onclose, { code, reason }));
    };
    const channel = {
      ended,
      waitingBytes: 0,
      send: (message: JsonObject) => {
        const data = textOf(message);
        later(() => tell(socket.onmessage, { data }));
      },
      close: (code: CloseCode, why: string) => {
        // Messages that came earlier are handled earlier.
        later(() => end(code, why));
      },
    };
    const hear = (text: string) => {
      try {
        checkShape(Buffer.from(text), limits);
        registrant?.take(readAxMessage(text));
      } catch (error) {
        end(closeCodes.badFrame, isMcpxError(error) ? error.code : "bad_json");
      }
    };
    later(() => {
      try {
        const credential = { principal, certificateNames: [], isLocal: true, equipment };
        visits.checkPlace(credential);
        registrant = visits.begin(channel, credential);
        tell(socket.onopen, {});
      } catch (error) {
        end(closeCodes.draining, isMcpxError(error) ? error.code : String(error));
      }
    });
    return socket;
  };
}

function tell(handler: SubserverSocket["onopen"], event: object): void {
  (handler as Handler | null)?.(event);
}
