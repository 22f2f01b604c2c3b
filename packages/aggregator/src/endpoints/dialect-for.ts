// Which names a client gets to see: as it asks, else as its profile says, else in the form every model takes. Only other
// trees see dotted names unasked. Pure. [B-CLIENT-2]
import { isObject, type JsonObject, McpxError } from "@mcpx/protocol";
import { treeExtension } from "../mcp/era.ts";
import type { Profile } from "../mcp/profile.ts";
import { type Dialect, dialects } from "../names/dialects.ts";

export interface DialectClues {
  /** `?names=` of the address. */
  names: string | null;
  profile: Profile | undefined;
  /** As the client declares them. */
  capabilities: JsonObject;
  /** Whether the caller is a parent. */
  isParent?: boolean | undefined;
}

/** Throws `bad_request` for a dialect nobody knows. */
export function dialectFor({ names, profile, capabilities, isParent }: DialectClues): Dialect {
  if (names !== null) {
    const wanted = dialects.find((dialect) => dialect === names);
    if (wanted === undefined)
      throw new McpxError(
        "bad_request",
        `names=${names.slice(0, 40)} is unknown; expected ${dialects.join(", ")}`,
      );
    return wanted;
  }
  if (profile?.dialect !== undefined) return profile.dialect;
  return isParent === true || isTreeClient(capabilities) ? "canonical" : "safe";
}

/** A tree that mounts us says so as we do: by the extension. */
function isTreeClient({ extensions }: JsonObject): boolean {
  return isObject(extensions) && isObject(extensions[treeExtension]);
}
