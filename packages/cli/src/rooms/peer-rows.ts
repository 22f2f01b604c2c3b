// Participants and their tools as rows of a table. Everything in them comes from strangers. Pure.
import type { Tool } from "@mcpx/client";
import { imitationsAmong, isObject, type JsonObject } from "@mcpx/protocol";
import { cut, visible } from "../framework/visible.ts";

const aboutCharsMax = 80;

/** One row for each; who looks like somebody that came before is marked. */
export function peerRows(participants: readonly JsonObject[]): string[][] {
  const imitations = imitationsAmong(participants.map(({ id }) => String(id)));
  return participants.map((participant) => {
    const [id = "", ...rest] = peerRow(participant);
    const like = imitations.get(String(participant.id));
    return [like === undefined ? id : `${id} ⚠ looks like ${visible(like)}`, ...rest];
  });
}

export function peerRow({ id, name, kind, privilege, status }: JsonObject): string[] {
  const state = isObject(status) ? [status.status, status.text] : [];
  const about = [name, ...state].filter((part) => part !== undefined).join(", ");
  return [id, kind ?? "", privilege ?? "", cut(about, aboutCharsMax)].map((cell) => visible(String(cell)));
}

/** `  heat(celsius, minutes?)  Heats the oven`. */
export function toolRows(tools: readonly Tool[]): string[][] {
  return tools.map(({ name, description, inputSchema }) => {
    const about = typeof description === "string" ? cut(visible(description), aboutCharsMax) : "";
    return [`  ${cut(visible(`${name}(${parametersOf(inputSchema)})`), aboutCharsMax)}`, about];
  });
}

function parametersOf(schema: unknown): string {
  if (!isObject(schema) || !isObject(schema.properties)) return "";
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.keys(schema.properties)
    .map((name) => (required.includes(name) ? name : `${name}?`))
    .join(", ");
}
