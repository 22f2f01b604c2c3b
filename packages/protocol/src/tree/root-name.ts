// The root's segment stands first in every name of a tree that has one [AX-3.1-1]. Inside a tree names have no root
// segment: policy, stores and routing tables use that one form. Only the functions here add it and remove it. Pure.
import { matchesGlob } from "../names.ts";

/** The tree's own tools have fixed names, `mcpax.status` and others, in every tree. */
const ownPrefix = "mcpax.";

/** The name as clients and people see it. */
export function withRoot(root: string | undefined, name: string): string {
  return root === undefined || name.startsWith(ownPrefix) ? name : `${root}.${name}`;
}

/** A name or a glob as somebody wrote it, in the form used inside: the root segment is understood and optional. */
export function withoutRoot(root: string | undefined, written: string): string {
  if (root === undefined || !written.startsWith(root) || written[root.length] !== ".") return written;
  return written.slice(root.length + 1);
}

/**
 * Whether a glob over tool names matches a name without root segment. Only a literal first part is read as the root
 * segment: no star ever stands for it, so that a glob written before the root had a segment matches what it matched.
 */
export function matchesTool(root: string | undefined, glob: string, name: string): boolean {
  return matchesGlob(withoutRoot(root, glob), name, ".");
}
