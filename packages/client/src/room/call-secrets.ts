// Where the schema of its tool says that arguments of a call are secret. One answer for every card, line and post: before
// the participant that is to be called has listed its tools, all of the arguments are. Pure.
import { isObject, readGateNotice, secretPlaces } from "@mcpx/protocol";
import type { Participant } from "../core/roster.ts";
import type { ToolList } from "./tool-lists.ts";

export interface CallSecrets {
  /** As `maskSecrets` takes them, seen from the arguments. */
  readonly places: readonly string[];
  /** Participants whose tools are to be listed first. */
  readonly unlisted: readonly string[];
}

/** A proposal, or what an envelope says. */
export interface AskedCall {
  readonly method?: unknown;
  readonly params?: unknown;
  readonly mcpax?: unknown;
  readonly targets: readonly string[];
}

const none: CallSecrets = { places: [], unlisted: [] };
const everything = [""];
const targetsMax = 8;

/** Of a participant that is not there, or does not tell its tools, no schema is known: name and shape are left. */
export function callSecrets(
  { method, params, mcpax, targets }: AskedCall,
  tools: ReadonlyMap<string, ToolList>,
  present: readonly Pick<Participant, "id">[],
): CallSecrets {
  if (method !== "tools/call" || !isObject(params)) return none;
  const notice = readGateNotice(mcpax);
  if (notice !== undefined) return { places: notice.secrets ?? [], unlisted: [] };
  // Not all who serve tools have said so.
  const asked = targets.slice(0, targetsMax).filter((id) => present.some((one) => one.id === id));
  const unlisted = asked.filter((id) => (tools.get(id)?.state ?? "loading") === "loading");
  if (unlisted.length > 0) return { places: everything, unlisted };
  const listed = asked.flatMap((id) => {
    const list = tools.get(id);
    return list?.state === "listed" ? list.tools.filter(({ name }) => name === params.name) : [];
  });
  return { places: listed.flatMap((tool) => secretPlaces(tool.inputSchema)), unlisted };
}
