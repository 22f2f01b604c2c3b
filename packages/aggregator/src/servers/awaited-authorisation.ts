// A server that waits for somebody to authorise it for everybody. Where to is for operators alone; others are told that
// it waits.
import { type JsonObject, McpxError } from "@mcpx/protocol";
import type { Server } from "./server.ts";

export interface AwaitedAuthorisation {
  /** Where it is done; undefined while nobody is waited for. */
  address: string | undefined;
  /** Called when nobody is waited for any more: it was granted, refused or not done in time. */
  over?: ((isGranted: boolean) => void) | undefined;
}

export function awaitedOf({ origin }: Pick<Server, "origin">): AwaitedAuthorisation | undefined {
  return origin.kind === "configured" ? origin.awaited : undefined;
}

/** A server with an open session is not awaited: it asks for further rights, and can be used meanwhile. */
export function isAwaiting(server: Pick<Server, "origin" | "links">): boolean {
  const address = awaitedOf(server)?.address;
  return address !== undefined && [...server.links.values()].every(({ link }) => link === undefined);
}

export function awaitingFault({ name }: Pick<Server, "name">): McpxError {
  return new McpxError("server_unauthorised", `${name}: an operator has to authorise it`);
}

/** For operators. */
export function authorisationStatus(server: Pick<Server, "origin">): JsonObject {
  const address = awaitedOf(server)?.address;
  return address === undefined ? {} : { authorise_url: address };
}
