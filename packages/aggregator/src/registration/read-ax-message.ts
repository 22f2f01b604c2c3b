// Text at `/ax` to a message. A registration that gives a field twice is told so: which of the two counts is not for us
// to guess. [AX-6.1-2]
import { doubledKey, isObject, type JsonObject, McpxError, registrationMethods } from "@mcpx/protocol";
import { parseCounted } from "../mcp/parse.ts";

/** What the text of a message said twice; the message itself cannot say it. */
const doubled = new WeakMap<JsonObject, string>();

/** Throws `bad_json` or `not_an_object`. Depth and values were counted before. */
export function readAxMessage(text: string): JsonObject {
  const value = parseCounted(text);
  if (!isObject(value)) throw new McpxError("not_an_object");
  if (value.method === registrationMethods.register) {
    const key = doubledKey(text, ["params", "capabilities"]);
    if (key !== undefined) doubled.set(value, key);
  }
  return value;
}

/** Throws `bad_params` with the field's name. */
export function checkDoubled(message: JsonObject): void {
  const key = doubled.get(message);
  if (key !== undefined) throw new McpxError("bad_params", `${key.slice(0, 100)} is given twice`);
}
