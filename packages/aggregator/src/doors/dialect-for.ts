// Which names a client gets to see: as it asks, else as its profile says, else by what is known of it. Pure.
import { type JsonObject, McpxError } from "@mcpx/protocol";
import type { Profile } from "../mcp/profile.ts";
import { type Dialect, dialects } from "../names/dialects.ts";

/**
 * Clients whose model takes only `[A-Za-z0-9_-]` of at most 64, who hide tools with dots, or who rewrite names
 * themselves. One bad name may cost them all their tools.
 */
const refusesDots = /(?:^|[^a-z])(?:claude|anthropic|openai|chatgpt|codex|cursor|gemini)/;

export interface DialectClues {
  /** `?names=` of the address. */
  names: string | null;
  profile: Profile | undefined;
  info: JsonObject | undefined;
}

/** Throws `bad_request` for a dialect nobody knows. */
export function dialectFor({ names, profile, info }: DialectClues): Dialect {
  if (names !== null) {
    const wanted = dialects.find((dialect) => dialect === names);
    if (wanted === undefined) throw new McpxError("bad_request", `names must be ${dialects.join(", ")}`);
    return wanted;
  }
  if (profile?.dialect !== undefined) return profile.dialect;
  const name = info?.name;
  return typeof name === "string" && refusesDots.test(name.toLowerCase()) ? "safe" : "canonical";
}
