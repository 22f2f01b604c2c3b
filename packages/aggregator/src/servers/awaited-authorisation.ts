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

type Waiting = Pick<Server, "name" | "awaited" | "links">;

/** One that is open waits for more than it has, and is of use meanwhile. */
export function isAwaiting({ awaited, links }: Omit<Waiting, "name">): boolean {
  return awaited?.address !== undefined && [...links.values()].every(({ link }) => link === undefined);
}

export function awaitingFault({ name }: Waiting): McpxError {
  return new McpxError("server_unauthorised", `${name}: an operator has to authorise it`);
}

/** For operators. */
export function authorisationStatus({ awaited }: Pick<Server, "awaited">): JsonObject {
  return awaited?.address === undefined ? {} : { authorise_url: awaited.address };
}
