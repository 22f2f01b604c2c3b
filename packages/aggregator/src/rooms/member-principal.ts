// Who a member of a room is at the tree: what all connections it has there may do, and nothing more. Pure.
import { type Principal, principalKey } from "@mcpx/host";
import { canonicalJson } from "@mcpx/protocol";
import { innerPrincipal } from "../mcp/plain-caller.ts";

/**
 * An envelope does not say by which of its sender's connections it came, so that the least of them counts. Whoever
 * cannot be told apart by that, or is not there, may use nothing.
 */
export function memberPrincipal(id: string, connections: readonly Principal[]): Principal {
  const [first] = connections;
  if (first === undefined) return innerPrincipal(id, []);
  const bounds = different(connections.flatMap(({ tools, toolBounds }) => [tools, toolBounds ?? tools]));
  const keys = different(connections.flatMap(({ key }) => (key === undefined ? [] : [key])));
  const names = new Set(connections.map(principalKey));
  const [tools = [], toolBounds = tools, ...more] = bounds;
  if (more.length > 0 || keys.length > 1 || names.size > 1) return { ...first, tools: [] };
  const issuedAt = Math.min(...connections.map(({ issuedAt = Number.POSITIVE_INFINITY }) => issuedAt));
  return { ...first, tools, toolBounds, key: keys[0], issuedAt };
}

function different<T extends object>(values: readonly T[]): T[] {
  return [...new Map(values.map((value) => [canonicalJson(value), value])).values()];
}
