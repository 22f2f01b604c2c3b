// Names given on the command line: ids of participants, rooms and globs of them.
import { isId, isReservedId } from "@mcpx/protocol";
import { misuse } from "../framework/failure.ts";

const rule = "use 1 to 128 characters of A-Z a-z 0-9 . _ : @ / + -";

export function checkParticipantId(id: string): void {
  if (!isId(id)) throw misuse(`${JSON.stringify(id)} cannot be an id`, rule);
  if (isReservedId(id)) throw misuse(`${id} is reserved for the gateway itself`, "choose another id");
}

export function checkTopic(topic: string): void {
  if (!isId(topic)) throw misuse(`${JSON.stringify(topic)} cannot be a room's name`, rule);
}

/** As tokens and the configuration use them: stars are allowed too. */
export function checkTopicGlob(glob: string): void {
  if (!isId(glob.replaceAll("*", "x"))) throw misuse(`${JSON.stringify(glob)} cannot be a room's name`, rule);
}
