// Who may see and use what: one function for lists and calls, so that nothing can be called that is not shown. Deny
// by default: a token without `tools` opens nothing. Pure.
import type { Principal } from "@mcpx/host";
import { matchesAnyGlob } from "@mcpx/protocol";
import type { Profile } from "./profile.ts";

interface Asking {
  readonly principal: Pick<Principal, "tools" | "toolBounds">;
  readonly profile: Profile | undefined;
}

/** `name` is canonical. Resources of a server stand under `<segment>.resources`. */
export function mayUse({ principal, profile }: Asking, name: string): boolean {
  const { tools, toolBounds } = principal;
  return (
    matchesAnyGlob(tools, name, ".") &&
    (toolBounds === undefined || matchesAnyGlob(toolBounds, name, ".")) &&
    (profile === undefined || matchesAnyGlob(profile.tools, name, "."))
  );
}
