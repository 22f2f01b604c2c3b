// Text of a client to JSON, within bounds. Pure.
import { McpxError, parseExact } from "@mcpx/protocol";
import { checkDepth } from "./message.ts";

/** Throws `bad_json` or `too_deep`. */
export function parse(text: string, depthMax: number): unknown {
  let value: unknown;
  try {
    value = parseExact(text);
  } catch {
    throw new McpxError("bad_json");
  }
  // Shorter ones cannot be as deep.
  if (text.length > 2 * depthMax) checkDepth(value, depthMax);
  return value;
}
