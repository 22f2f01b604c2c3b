// Which level a participant gets, from the first of these that says: an admin's decision, the token, the known
// identity, the mode. [X1-5.1-1] [X1-5.1-3]
import type { Principal } from "@mcpx/host";
import { type Level, levelRank, McpxError } from "@mcpx/protocol";
import type { Gateway } from "./gateway-state.ts";

export function levelFor(
  gateway: Pick<Gateway, "options" | "levelDecisions">,
  principal: Pick<Principal, "level" | "levelMax">,
  id: string,
  topic: string,
): Level {
  const found = judgeLevel(gateway, principal, id, topic);
  if (found === "kicked" || found === "no_level") throw new McpxError(found);
  return found;
}

/** The level, or why there is none. */
export function judgeLevel(
  { options, levelDecisions }: Pick<Gateway, "options" | "levelDecisions">,
  principal: Pick<Principal, "level" | "levelMax">,
  id: string,
  topic: string,
): Level | "kicked" | "no_level" {
  // Also in open mode: who was demoted or kicked stays so.
  const decided = levelDecisions.find(id, topic);
  if (decided === "none") return "kicked";
  if (decided !== undefined) return decided;
  const known = Object.hasOwn(options.identities, id) ? options.identities[id]?.level : undefined;
  const level = options.mode === "open" ? "full" : (principal.level ?? known);
  if (level === undefined && options.mode === "secure") return "no_level";
  return lower(level ?? "restricted", principal.levelMax);
}

/** What an external issuer may grant is bounded by configuration. */
function lower(a: Level, b: Level): Level {
  return levelRank(a) <= levelRank(b) ? a : b;
}
