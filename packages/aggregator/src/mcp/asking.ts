// What a client must have declared to be asked something. Pure.
import type { JsonObject } from "@mcpx/protocol";
import type { Question } from "./exchange.ts";
import { isPlain } from "./message.ts";
import { type RpcError, rpcCodes, rpcError } from "./rpc-error.ts";

/** The capability a question needs, in the shape clients declare it; `undefined` for what is no question. */
function neededFor({ method, params }: Question): JsonObject | undefined {
  switch (method) {
    case "elicitation/create":
      return { elicitation: params?.mode === "url" ? { url: {} } : { form: {} } };
    case "sampling/createMessage":
      return params?.tools === undefined && params?.toolChoice === undefined
        ? { sampling: {} }
        : { sampling: { tools: {} } };
    case "roots/list":
      return { roots: {} };
    default:
      return undefined;
  }
}

/** Why a client cannot be asked this, or `undefined` where it can: a modern one is told what it lacks. */
export function refusalOf(
  question: Question,
  caller: { era: "legacy" | "modern"; capabilities: JsonObject },
): RpcError | undefined {
  const needed = neededFor(question);
  if (needed === undefined)
    return rpcError(rpcCodes.methodNotFound, "Method not found: an MCP client has no method of this name");
  if (hasCapability(caller.capabilities, needed)) return undefined;
  const text = `the client has not declared ${Object.keys(needed).join()}`;
  if (caller.era === "legacy") return rpcError(rpcCodes.methodNotFound, `Method not found: ${text}`);
  return rpcError(rpcCodes.missingClientCapability, `Missing required client capability: ${text}`, {
    requiredCapabilities: needed,
  });
}

function hasCapability(declared: JsonObject, needed: JsonObject): boolean {
  return Object.entries(needed).every(([name, parts]) => {
    const given = declared[name];
    if (!isPlain(given)) return false;
    // Before there were modes, a bare `elicitation` meant forms.
    if (name === "elicitation" && Object.keys(given).length === 0)
      return Object.hasOwn(parts as JsonObject, "form");
    return Object.keys(parts as JsonObject).every((part) => isPlain(given[part]));
  });
}
