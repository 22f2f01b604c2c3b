// What to write into the configuration for a device that was found: its names are for people to choose. Pure.
import type { FoundDevice } from "@mcpx/devices";
import type { JsonObject } from "@mcpx/protocol";

/** What nobody has said anything about is read as dangerous, and gated; so this says nothing. */
export function entryFor(line: string, found: FoundDevice): JsonObject {
  if (found.profile === "a") {
    const tools = { tool_1: { id: 1, arguments: [], result: [] } };
    return { line, profile: "a", ...(found.crc === 8 && { crc: 8 }), tools };
  }
  const tools = found.tools.map(({ id, arguments: types }) => {
    const args = types.map((type, at) => ({ name: `argument_${at}`, type }));
    return [`tool_${id}`, { id, arguments: args, result: [] }] as const;
  });
  const { serial, framedCrc } = found;
  return {
    line,
    profile: "b",
    ...(framedCrc !== undefined && { framing: "frame" }),
    ...(framedCrc === 8 && { crc: 8 }),
    // A stub that is written after the source alone has none.
    ...(serial !== "" && { serial }),
    tools: Object.fromEntries(tools),
  };
}
