// What the participants of a room are called in tool names. A stored map tells them apart; names are never taken apart.
import { isMarked, isSegment, markedSegment } from "../names/segment.ts";

export interface PeerNames {
  /** The segment of this participant's tools, the same as long as it is remembered. */
  of(id: string): string;
  /** Whose segment it is; anything else is taken for an id. */
  idOf(nameOrId: string): string;
}

/** Segments of the room's own tools. */
export const ownSegments: readonly string[] = ["chat", "presence", "history", "proposals"];

const rememberedMax = 10_000;

/**
 * An id that is a segment keeps it. Every other one gets a mark of the whole id, whichever other participants are
 * there: people allow tools by name, so that a name must mean the same tomorrow. So does one that looks marked itself,
 * or it could be another's.
 */
export function createPeerNames(): PeerNames {
  const byId = new Map<string, string>();
  const byName = new Map<string, string>(ownSegments.map((segment) => [segment, ""]));

  function add(id: string): string {
    let name = isSegment(id) && !isMarked(id) && !ownSegments.includes(id) ? id : markedSegment(id);
    for (let n = 2; byName.has(name); n += 1) name = markedSegment(`${id} ${n}`);
    byId.set(id, name);
    byName.set(name, id);
    if (byId.size > rememberedMax) forgetOldest();
    return name;
  }

  function forgetOldest(): void {
    for (const [id, name] of byId) {
      byId.delete(id);
      byName.delete(name);
      return;
    }
  }

  return {
    of: (id) => byId.get(id) ?? add(id),
    idOf: (nameOrId) => byName.get(nameOrId) || nameOrId,
  };
}
