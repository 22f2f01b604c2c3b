// Text of a client to JSON, within bounds. Pure.
import { JsonShape, type Limits, McpxError, parseExact } from "@mcpx/protocol";

/** Throws `bad_json`. For text whose shape was counted while it came in. */
export function parseCounted(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    throw new McpxError("bad_json");
  }
}

const encoder = new TextEncoder();

/** Throws `bad_json`, `too_deep` or `too_many_values`. Counted first: what is built of a text may be a hundred times as large. */
export function parse(text: string, { mcpDepthMax, valuesMax }: Limits): unknown {
  // Shorter ones can be neither deep nor many.
  if (text.length > 2 * Math.min(mcpDepthMax, valuesMax)) {
    checkShape(encoder.encode(text), { mcpDepthMax, valuesMax });
  }
  return parseCounted(text);
}

/** Throws `too_deep` or `too_many_values`. */
export function checkShape(
  bytes: Uint8Array,
  { mcpDepthMax, valuesMax }: Pick<Limits, "mcpDepthMax" | "valuesMax">,
): void {
  new JsonShape({ depthMax: mcpDepthMax, valuesMax }).take(bytes);
}
