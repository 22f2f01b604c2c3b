// One tool as a stranger in a room lists it, made into one that every client can read: known fields of the right type,
// within bounds. Pure.
import { isObject, type JsonObject } from "@mcpx/protocol";
import { bytesOf } from "../catalogue/item-size.ts";

const nameCharsMax = 255;
/** Of memory: some 64 KiB of text. */
const toolBytesMax = 262_144;
const hints = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] as const;

export interface PeerTool extends JsonObject {
  name: string;
  inputSchema: JsonObject;
}

/** `undefined` where nobody could use it: one such tool would make a client refuse the whole list. */
export function readPeerTool(item: unknown): PeerTool | undefined {
  if (!isObject(item) || !isObjectSchema(item.inputSchema)) return undefined;
  const { name, title, description, inputSchema, outputSchema, annotations, _meta } = item;
  if (typeof name !== "string" || name === "" || name.length > nameCharsMax) return undefined;
  const tool = {
    name,
    ...(typeof title === "string" && { title }),
    ...(typeof description === "string" && { description }),
    inputSchema,
    ...(isObjectSchema(outputSchema) && { outputSchema }),
    ...(isObject(annotations) && { annotations: readHints(annotations) }),
    ...(isObject(_meta) && { _meta }),
  };
  const bytes = bytesOf(tool);
  return bytes === undefined || bytes > toolBytesMax ? undefined : tool;
}

function isObjectSchema(value: unknown): value is JsonObject {
  if (!isObject(value) || value.type !== "object") return false;
  const { properties = {}, required = [] } = value;
  const areSchemas = isObject(properties) && Object.values(properties).every(isObject);
  return areSchemas && Array.isArray(required) && required.every((one) => typeof one === "string");
}

function readHints(given: JsonObject): JsonObject {
  const kept = hints.filter((hint) => typeof given[hint] === "boolean").map((hint) => [hint, given[hint]]);
  return { ...(typeof given.title === "string" && { title: given.title }), ...Object.fromEntries(kept) };
}
