// What stands below a tree of the tree, as its tools' dotted names show it. Pure.
import { believedOf, type JsonObject, latencyClasses } from "@mcpx/protocol";

export interface Branch {
  /** The last part of its name. */
  segment: string;
  /** Its own; those further below are in `branches`. */
  tools: readonly BranchTool[];
  branches: readonly Branch[];
}

export interface BranchTool {
  /** The last part of its name. */
  name: string;
  item: JsonObject;
}

/** Of a tree itself, whatever it is called above. */
const ownSegment = "mcpax";

/** Every tool whose name begins with `segment.`, in the order of names. */
export function branchAt(segment: string, tools: readonly JsonObject[]): Branch {
  const prefix = `${segment}.`;
  const below = tools.flatMap((item) => {
    const name = String(item.name);
    return name.startsWith(prefix) ? [{ path: name.slice(prefix.length).split("."), item }] : [];
  });
  return grow(segment, below);
}

function grow(segment: string, below: readonly { path: readonly string[]; item: JsonObject }[]): Branch {
  const tools: BranchTool[] = [];
  const bySegment = new Map<string, { path: readonly string[]; item: JsonObject }[]>();
  for (const { path, item } of below) {
    const [first = "", ...rest] = path;
    if (rest.length === 0) tools.push({ name: first, item });
    else {
      const others = bySegment.get(first) ?? [];
      bySegment.set(first, others);
      others.push({ path: rest, item });
    }
  }
  return { segment, tools, branches: [...bySegment].map(([name, inner]) => grow(name, inner)) };
}

/** All tools of a branch, those of the trees themselves included. */
export function allTools({ tools, branches }: Branch): JsonObject[] {
  return [...tools.map(({ item }) => item), ...branches.flatMap(allTools)];
}

/** The tools of a branch's servers, without the trees' own. */
export function servedTools({ tools, branches }: Branch): JsonObject[] {
  const served = branches.filter(isServer).flatMap(servedTools);
  return [...tools.map(({ item }) => item), ...served];
}

/** What a tree says with tools of its own is no server of it. */
export function isServer({ segment }: Branch): boolean {
  return segment !== ownSegment;
}

/** `fast`, or `fast to slow`; `undefined` where nothing is said. */
export function latencyText(tools: readonly JsonObject[]): string | undefined {
  const said = new Set(tools.map((tool) => believedOf(tool).latency_class));
  const classes = latencyClasses.filter((name) => said.has(name));
  const [quickest, slowest] = [classes.at(0), classes.at(-1)];
  return quickest === slowest ? quickest : `${quickest} to ${slowest}`;
}

/** Whether all these tools belong to lost servers. */
export function areDegraded(tools: readonly JsonObject[]): boolean {
  return tools.length > 0 && tools.every((tool) => believedOf(tool).availability === "degraded");
}
