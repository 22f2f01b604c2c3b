// Servers that keep lists waiting. A list waits for a server once, whichever list it is and whichever client wants it;
// from then on it is asked in the background, less and less often, and what it lists when it answers is a
// `list_changed`.
import { type ListKind, listKinds } from "../mcp/list-kinds.ts";
import type { Server } from "./server.ts";
import { everyServer, type TreeState } from "./tree-state.ts";

const retryMsMin = 5_000;
const retryMsMax = 300_000;

/** Reads the list once more. */
type Again = () => Promise<unknown>;

/** The server did not list in time, or took long to fail. If it does not even open, none of its lists is waited for. */
export function hasKeptWaiting(state: TreeState, server: Server, kind: ListKind, again: Again): void {
  const isOpen = [...server.links.values()].some(({ link }) => link !== undefined);
  for (const one of isOpen ? [kind] : listKinds) {
    if (!server.mute.has(one)) server.mute.set(one, isOpen ? "listing" : "opening");
  }
  tryLater(state, server, { kind, again, waitMs: retryMsMin });
}

export function hasAnswered(server: Server, kind: ListKind): void {
  server.mute.delete(kind);
}

/** A conversation with it has begun. */
export function hasOpened({ mute }: Server): void {
  for (const [kind, undone] of mute) if (undone === "opening") mute.delete(kind);
}

interface Trial {
  kind: ListKind;
  again: Again;
  waitMs: number;
}

function tryLater(state: TreeState, server: Server, trial: Trial): void {
  const { kind, again, waitMs } = trial;
  if (server.retrying.has(kind)) return;
  server.retrying.add(kind);
  const isWanted = () => !state.isClosed && everyServer(state).includes(server) && server.mute.has(kind);
  const tryNow = async () => {
    if (isWanted()) await again();
    server.retrying.delete(kind);
    if (isWanted()) tryLater(state, server, { ...trial, waitMs: Math.min(retryMsMax, waitMs * 2) });
  };
  setTimeout(() => void tryNow(), waitMs).unref();
}
