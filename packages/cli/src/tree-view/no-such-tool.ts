// A tool that is not there: why, and the one that was probably meant. Pure.
import { Failure } from "../framework/failure.ts";
import { suggestion } from "../framework/nearest.ts";
import type { TreeView } from "./look-at-tree.ts";

export function noSuchTool(name: string, { tools, servers }: Pick<TreeView, "tools" | "servers">): Failure {
  const isChanged = servers.some(
    ({ quarantined }) => Array.isArray(quarantined) && quarantined.includes(name),
  );
  if (isChanged) return new Failure(`${name} has changed`, `look at it with mcpx tools diff ${name}`);
  const meant = suggestion(
    name,
    tools.map((tool) => String(tool.name)),
  );
  return new Failure(`there is no tool ${name}`, [meant, "see mcpx tools"].filter(Boolean).join(" "));
}
