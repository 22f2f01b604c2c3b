// Who may see and use what: one function for lists and calls, so that nothing can be called that is not shown. Deny
// by default: a token without `tools` opens nothing. Pure.
import type { Principal } from "@mcpx/host";
import { matchesTool } from "@mcpx/protocol";
import type { Caller } from "../mcp/exchange.ts";
import type { Profile } from "../mcp/profile.ts";
import type { Server } from "../servers/server.ts";
import type { TreeState } from "../servers/tree-state.ts";

interface Asking {
  readonly principal: Pick<Principal, "tools" | "toolBounds" | "issuedAt">;
  readonly profile: Profile | undefined;
}

/** `name` has no root segment. Resources of a server stand under `<segment>.resources`. */
export function mayUse(
  { rootSegment, rootSince }: Pick<TreeState, "rootSegment" | "rootSince">,
  { principal, profile }: Asking,
  name: string,
): boolean {
  const { tools, toolBounds, issuedAt = Number.POSITIVE_INFINITY } = principal;
  const matchesAny = (root: string | undefined, globs: readonly string[]) =>
    globs.some((glob) => matchesTool(root, glob, name));
  // When the token was issued, the root's segment before a name could only be the segment of a server.
  const tokenRoot = issuedAt < rootSince ? undefined : rootSegment;
  return (
    matchesAny(tokenRoot, tools) &&
    (toolBounds === undefined || matchesAny(tokenRoot, toolBounds)) &&
    (profile === undefined || matchesAny(rootSegment, profile.tools))
  );
}

/** Whether the caller is this server itself: a call would only come back to it. [AX-11.4-3] */
export function isOwnOf(
  { registeredAs }: Pick<Caller, "registeredAs">,
  { segment }: Pick<Server, "segment">,
): boolean {
  return registeredAs !== undefined && segment === registeredAs;
}
