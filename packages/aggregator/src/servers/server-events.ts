// Changes of servers of which other parts have to be told. Servers and their lists report them here and know nobody of those
// who are told; `notifications/server-news.ts` says who that is.
import type { LinkTaker } from "../links/link.ts";
import type { ListKind } from "../mcp/list-kinds.ts";
import type { LinkEntry } from "./link-entry.ts";
import type { Server } from "./server.ts";

export interface ServerEvents {
  /** A conversation is about to begin: who takes what the server says in it unasked. */
  begins(server: Server, conversation: LinkEntry): LinkTaker;
  /** A conversation is open. */
  opened(server: Server, conversation: LinkEntry): void;
  /** A conversation is over, and nobody wanted that. */
  ended(server: Server, conversation: LinkEntry): void;
  /** Nobody can reach the server any more; once, until it is there again. Its lists are still what they were. */
  lost(server: Server): void;
  /** These lists are others now: for everybody, or only for the user of that name. */
  listsChanged(kinds: readonly ListKind[], person?: string | undefined): void;
  /** The server is out of the tree; its heir has its place. */
  retired(server: Server, heir: Server | undefined): void;
}
