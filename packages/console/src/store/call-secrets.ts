// What of a call's arguments its tool's schema calls secret, for everything that shows a call of a room. Pure.
import {
  type AskedCall,
  type CallSecrets,
  callSecrets,
  type Participant,
  type RoomEnvelope,
  type ToolList,
} from "@mcpx/client";

/** Before we are in the room nobody knows who is there: all of it is hidden. */
export function proposalSecrets(
  call: AskedCall,
  tools: ReadonlyMap<string, ToolList> = new Map(),
  participants: readonly Participant[] = [],
): CallSecrets {
  return participants.length === 0 && call.method === "tools/call" && call.mcpax === undefined
    ? { places: [""], unlisted: [] }
    : callSecrets(call, tools, participants);
}

export function lineSecrets(
  { kind, payload, to: targets = [] }: Pick<RoomEnvelope, "kind" | "payload" | "to">,
  tools: ReadonlyMap<string, ToolList>,
  participants: readonly Participant[],
): CallSecrets {
  if (!kind.startsWith("mcp")) return { places: [], unlisted: [] };
  return proposalSecrets({ ...payload, targets }, tools, participants);
}
