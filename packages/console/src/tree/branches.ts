// The tree as the navigation shows it: tools under the server whose segment their names begin with, found in one pass,
// however many there are. Pure.
import { type JsonObject, withoutRoot } from "@mcpx/protocol";

interface Leaf {
  /** As it is called. */
  readonly name: string;
  /** Without what its server's other tools have in common with it. */
  readonly short: string;
}

export interface Branch {
  readonly name: string;
  readonly state: string;
  readonly tools: readonly Leaf[];
}

export interface Tools {
  readonly servers: readonly JsonObject[];
  readonly tools: readonly JsonObject[];
  readonly root: string | undefined;
}

/** The gateway's own tools are no server's. */
const own = "mcpax";

/** It has been asked for, and has not answered yet. */
export function isStarting({ state, conversations }: JsonObject): boolean {
  return state === "idle" && Number(conversations) > 0;
}

export function branchesOf({ servers, tools, root }: Tools): Branch[] {
  const bySegment = new Map<string, Leaf[]>();
  const branches = servers
    .filter(({ name }) => name !== own)
    .map((server) => {
      const leaves: Leaf[] = [];
      bySegment.set(typeof server.segment === "string" ? server.segment : "", leaves);
      return { name: String(server.name), state: String(server.state), tools: leaves };
    });
  for (const { name } of tools) {
    const full = String(name);
    const inside = withoutRoot(root, full);
    if (inside.startsWith(`${own}.`)) continue;
    const segment = longestSegment(inside, bySegment);
    if (segment === undefined) continue;
    const short = segment === "" ? inside : inside.slice(segment.length + 1);
    bySegment.get(segment)?.push({ name: full, short });
  }
  return branches;
}

function longestSegment(name: string, known: ReadonlyMap<string, unknown>): string | undefined {
  for (let dot = name.lastIndexOf("."); dot > 0; dot = name.lastIndexOf(".", dot - 1)) {
    const segment = name.slice(0, dot);
    if (known.has(segment)) return segment;
  }
  return known.has("") ? "" : undefined;
}

/** So many tools are shown of each, by name of the branch: those that are open, the first of them first. */
export function shareOut(
  branches: readonly Branch[],
  isOpen: (branch: Branch) => boolean,
  toolsMax: number,
): ReadonlyMap<string, number> {
  let left = toolsMax;
  return new Map(
    branches.filter(isOpen).map((branch) => {
      const count = Math.min(left, branch.tools.length);
      left -= count;
      return [branch.name, count];
    }),
  );
}

/** Only branches and tools with this text in their names; all of a branch whose own name has it. */
export function searchBranches(branches: readonly Branch[], text: string): readonly Branch[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return branches;
  return branches.flatMap((branch) => {
    if (branch.name.toLowerCase().includes(wanted)) return [branch];
    const tools = branch.tools.filter(({ name }) => name.toLowerCase().includes(wanted));
    return tools.length === 0 ? [] : [{ ...branch, tools }];
  });
}
