// What of a call's arguments its tool's schema calls secret, for those lines of a room that show calls. Pure.
import type { Participant, RoomEnvelope } from "@mcpx/client";
import { isObject, readGateNotice, secretPlaces } from "@mcpx/protocol";
import type { ToolList } from "../store/room.ts";

export interface CallSecrets {
  readonly places: readonly string[];
  /** Whose tools are to be listed first: until they are, nothing of the arguments is shown. */
  readonly unlisted: readonly string[];
}

const none: CallSecrets = { places: [], unlisted: [] };
const targetsMax = 8;

/** Of who is not there, or does not tell its tools, nobody knows: then name and shape are left. */
export function callSecrets(
  { kind, payload, to = [] }: RoomEnvelope,
  tools: ReadonlyMap<string, ToolList>,
  participants: readonly Participant[],
): CallSecrets {
  const { method, params, mcpax } = payload;
  if (!kind.startsWith("mcp") || method !== "tools/call" || !isObject(params)) return none;
  const notice = readGateNotice(mcpax);
  if (notice !== undefined) return { places: notice.secrets ?? [], unlisted: [] };
  // Before we are in the room nobody knows who is there: all of it is hidden.
  if (participants.length === 0) return { places: [""], unlisted: [] };
  // A participant may serve tools without an `mcp` field in presence.
  const present = to.slice(0, targetsMax).filter((id) => participants.some((one) => one.id === id));
  const lists = present.map((id) => ({ id, list: tools.get(id) }));
  const places = lists.flatMap(({ list }) =>
    list?.state !== "listed"
      ? []
      : list.tools
          .filter(({ name }) => name === params.name)
          .flatMap((tool) => secretPlaces(tool.inputSchema)),
  );
  const unlisted = lists.filter(({ list }) => list === undefined || list.state === "loading");
  return { places, unlisted: unlisted.map(({ id }) => id) };
}
