// `mcpax.ask {tool, arguments, call}`: about a call that its caller makes itself, elsewhere. The gate before this tool
// asks people; what is here says what they have approved. The answer allows one call, so it is given once. [B-CLIENT-3]
import { digestOf, isObject, type JsonObject, McpxError } from "@mcpx/protocol";
import { ownSegment } from "../names/own-segment.ts";

export const askName = `${ownSegment}.ask`;

const nameCharsMax = 256;

export const askProperties: JsonObject = {
  tool: { type: "string", description: "The tool you want to use, as you call it" },
  arguments: { type: "object", description: "What you want to call it with" },
  call: { type: "string", description: "An id of that call, the same when you ask again" },
};

export async function allowed(args: JsonObject): Promise<JsonObject> {
  const { tool, arguments: given, call, ...rest } = args;
  const [other] = Object.keys(rest);
  if (other !== undefined) throw new McpxError("bad_params", `${askName} has no argument ${other}`);
  if (!isName(tool))
    throw new McpxError("bad_params", `tool must be a string of 1 to ${nameCharsMax} characters`);
  if (!isObject(given)) throw new McpxError("bad_params", "arguments must be an object");
  if (!isName(call))
    throw new McpxError("bad_params", `call must be a string of 1 to ${nameCharsMax} characters`);
  const message = `This one call of ${JSON.stringify(tool)} is allowed, with exactly these arguments.`;
  return {
    content: [{ type: "text", text: message }],
    structuredContent: { status: "allowed", message, digest: await digestOf(args) },
  };
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= nameCharsMax;
}
