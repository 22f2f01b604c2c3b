// Where an aggregator's endpoint for registrations is.
import { RoomError } from "../core/room-error.ts";

export type SubserverTransport = "websocket" | "http";

const endpoint = "/ax";

/** `http://host:port` and `ws://host:port/ax` mean the same endpoint; the scheme is the transport's. */
export function endpointAddress(url: string, transport: SubserverTransport): string {
  if (!URL.canParse(url)) throw new RoomError("bad_option", `invalid address ${url}`);
  const { protocol, host, pathname, username, password } = new URL(url);
  const scheme = protocol.replace(/^ws/, "http");
  if (scheme !== "http:" && scheme !== "https:") throw new RoomError("bad_option", `invalid address ${url}`);
  if (username !== "" || password !== "") throw new RoomError("bad_option", "give the token as an option");
  let path = pathname;
  while (path.endsWith("/")) path = path.slice(0, -1);
  if (!path.endsWith(endpoint)) path += endpoint;
  return `${transport === "http" ? scheme : scheme.replace("http", "ws")}//${host}${path}`;
}
