// One participant's tools, page after page, within bounds: what is too much of it is left out, and the rest is there.
import type { Room } from "@mcpx/client";
import { heapBytesOf } from "@mcpx/protocol";
import { type PeerTool, readPeerTool } from "./peer-tool.ts";

export interface PeerList {
  tools: PeerTool[];
  /** What could not be taken, for people. */
  leftOut: number;
}

export interface PeerListBounds {
  toolsMax: number;
  /** Memory that the list may take. */
  bytesMax: number;
  /** For all of its pages. */
  listMs: number;
}

const pagesMax = 100;

export async function listPeer(
  room: Room,
  id: string,
  { toolsMax, bytesMax, listMs }: PeerListBounds,
): Promise<PeerList> {
  const signal = AbortSignal.timeout(listMs);
  const byName = new Map<string, PeerTool>();
  let bytes = 0;
  let leftOut = 0;
  let cursor: unknown;
  for (let page = 0; page < pagesMax && byName.size < toolsMax && bytes <= bytesMax; page += 1) {
    const listed = await room
      .peer(id)
      .request("tools/list", typeof cursor === "string" ? { cursor } : {}, { signal, timeoutMs: listMs });
    for (const item of Array.isArray(listed.tools) ? listed.tools : []) {
      const tool = byName.size < toolsMax ? readPeerTool(item) : undefined;
      bytes += tool === undefined ? 0 : heapBytesOf(tool);
      if (tool === undefined || byName.has(tool.name) || bytes > bytesMax) leftOut += 1;
      else byName.set(tool.name, tool);
    }
    cursor = listed.nextCursor;
    if (typeof cursor !== "string") return { tools: [...byName.values()], leftOut };
  }
  return { tools: [...byName.values()], leftOut: leftOut + 1 };
}
