// What the tree says to a member, so that it fits into an envelope: a room closes its endpoint to a member that says
// too much at once. Lists go in smaller pages; whatever else does not fit is said to be too large. Pure.
import { errorTable, fitsRoom, isObject, type JsonObject, type RoomBounds } from "@mcpx/protocol";
import { writeCursor } from "../verbs/list.ts";

/** A message, another that says why not, or `undefined` for what nobody waits for. */
export function fitMessage(message: JsonObject, bounds: RoomBounds): JsonObject | undefined {
  if (fitsRoom(message, bounds)) return message;
  const { jsonrpc, id, result, error } = message;
  if (isObject(result)) return { jsonrpc, id, ...fitAnswer(result, bounds) };
  if (isObject(error)) return { jsonrpc, id, error: { code: error.code, message: tooLarge.message } };
  return undefined;
}

const { code } = errorTable.too_large;
const tooLarge = { code, message: "The answer is too large for this room", data: { reason: "too_large" } };

function fitAnswer(result: JsonObject, bounds: RoomBounds): JsonObject {
  const { tools, content } = result;
  if (Array.isArray(tools)) return { result: { ...result, ...fitPage(tools.filter(isObject), bounds) } };
  if (!Array.isArray(content)) return { error: tooLarge };
  // The call was made: that must not look like a failure to be tried again.
  const text = "The tool was called, but its result is too large for this room.";
  return { result: { isError: true, content: [{ type: "text", text }] } };
}

/** As many tools as fit, and the cursor of the next page. A tool that is too large by itself is left out in a room. */
function fitPage(tools: readonly JsonObject[], bounds: RoomBounds): JsonObject {
  const small = tools.filter((tool) => fitsRoom({ result: { tools: [tool] } }, half(bounds)));
  let count = small.length;
  while (count > 1 && !fitsRoom({ result: { tools: small.slice(0, count) } }, bounds)) count = count >> 1;
  const page = small.slice(0, count);
  const last = page.at(-1)?.name;
  const isLast = count === small.length;
  return { tools: page, ...(!isLast && typeof last === "string" && { nextCursor: writeCursor(last) }) };
}

/** With it there is room for the cursor, and for what else a page says. */
function half({ envelopeBytesMax, depthMax }: RoomBounds): RoomBounds {
  return { envelopeBytesMax: envelopeBytesMax >> 1, depthMax: depthMax - 1 };
}
