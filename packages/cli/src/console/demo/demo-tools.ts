// What the demo's robot and workshop can do. Nothing of it is real: they only say what they would have done. Pure.
import { isObject, type JsonObject } from "@mcpx/protocol";

export interface DemoTool {
  item: JsonObject;
  run(args: JsonObject): string;
}

export const robotTools: readonly DemoTool[] = [
  {
    item: {
      name: "move_part",
      description: "Picks a part up and puts it somewhere else.",
      inputSchema: {
        type: "object",
        properties: {
          part: { type: "string", description: "which part" },
          to: { type: "string", enum: ["bench", "shelf", "bin"], description: "where it goes" },
          speed: { type: "number", description: "metres a second", default: 0.5 },
        },
        required: ["part", "to"],
        additionalProperties: false,
      },
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
    },
    run: ({ part, to, speed = 0.5 }) =>
      `The ${String(part)} is ${to === "bin" ? "in" : "on"} the ${String(to)} now (${String(speed)} m/s).`,
  },
  {
    item: {
      name: "look",
      description: "Says what the robot sees.",
      inputSchema: { type: "object", properties: {}, additionalProperties: false },
      annotations: { readOnlyHint: true },
    },
    run: () => "A bench, a shelf, a bin, and a blue gear.",
  },
];

export const workshopTools: readonly DemoTool[] = [
  {
    item: {
      name: "list_orders",
      description: "The orders of today.",
      inputSchema: { type: "object", properties: {}, additionalProperties: false },
      annotations: { readOnlyHint: true },
    },
    run: () => "A-17: blue gear, 12 pieces. A-18: red axle, 3 pieces.",
  },
  {
    item: {
      name: "cut_sheet",
      description: "Cuts a sheet of metal. A cut cannot be undone.",
      inputSchema: {
        type: "object",
        properties: {
          order: { type: "string", description: "which order it is for" },
          material: { type: "string", enum: ["steel", "brass", "aluminium"] },
          millimetres: { type: "array", items: { type: "number" }, description: "width and height" },
        },
        required: ["order", "material"],
        additionalProperties: false,
      },
      annotations: { readOnlyHint: false, destructiveHint: true },
    },
    run: ({ order, material }) => `One sheet of ${String(material)} is cut for order ${String(order)}.`,
  },
];

/** A JSON-RPC request of MCP, answered; `undefined` for a method that is not served. */
export function answerDemo(
  tools: readonly DemoTool[],
  name: string,
  { method, params }: { method: string; params: JsonObject },
): JsonObject | undefined {
  if (method === "initialize") {
    return {
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name, version: "1.0.0" },
    };
  }
  if (method === "ping") return {};
  if (method === "tools/list") return { tools: tools.map(({ item }) => item) };
  if (method !== "tools/call") return undefined;
  const tool = tools.find(({ item }) => item.name === params.name);
  if (tool === undefined)
    return { isError: true, content: [{ type: "text", text: "The demo has no tool of this name." }] };
  return { content: [{ type: "text", text: tool.run(isObject(params.arguments) ? params.arguments : {}) }] };
}
