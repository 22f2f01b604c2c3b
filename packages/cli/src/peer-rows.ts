// Participants and their tools as rows of a table. Everything in them comes from strangers. Pure.
import type { Tool } from "@mcpx/client";
import { isObject, type JsonObject } from "@mcpx/protocol";
import { cut, visible } from "./visible.ts";

const aboutCharsMax = 80;

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
