// The tools that the others in a room serve: asked for once, and again after they may have changed.
import type { Tool } from "./peer.ts";
import type { Room } from "./room.ts";

export type ToolList =
  | { state: "loading" }
  | { state: "listed"; tools: readonly Tool[] }
  | { state: "failed"; fault: string };

export interface ToolListsOptions {
  /** Who asks: the same room, unless its level does not allow it. */
  asker?: () => Promise<Pick<Room, "peer">>;
  changed?: () => void;
  timeoutMs?: number;
}

export interface ToolLists {
  /** By participant; absent as long as nobody has asked. */
  readonly all: ReadonlyMap<string, ToolList>;
  /** Resolves when these are listed, or could not be. */
  load(participants: readonly string[]): Promise<void>;
}

/** It follows the room for as long as the room is open. */
export function createToolLists(
  room: Pick<Room, "peer" | "addEventListener">,
  { asker = async () => room, changed = () => {}, timeoutMs = 10_000 }: ToolListsOptions = {},
): ToolLists {
  const lists = new Map<string, ToolList>();
  const asked = new Map<string, Promise<void>>();

  const forget = (id: string) => {
    asked.delete(id);
    if (lists.delete(id)) changed();
  };
  const ask = async (id: string): Promise<ToolList> => {
    try {
      return { state: "listed", tools: await (await asker()).peer(id).listTools({ timeoutMs }) };
    } catch (error) {
      return { state: "failed", fault: error instanceof Error ? error.message : String(error) };
    }
  };
  const loadOne = (id: string): Promise<void> => {
    const known = asked.get(id);
    if (known !== undefined) return known;
    lists.set(id, { state: "loading" });
    const asking: Promise<void> = ask(id).then((list) => {
      // What was forgotten meanwhile is asked for anew by who needs it.
      if (asked.get(id) !== asking) return;
      lists.set(id, list);
      changed();
    });
    asked.set(id, asking);
    changed();
    return asking;
  };

  room.addEventListener("presence", ({ detail: { event, participant } }) => {
    if (event !== "heartbeat") forget(participant.id);
  });
  room.addEventListener("notification", ({ detail: { from, method } }) => {
    if (method === "notifications/tools/list_changed") forget(from);
  });
  return {
    all: lists,
    async load(participants) {
      await Promise.all(participants.map(loadOne));
    },
  };
}
