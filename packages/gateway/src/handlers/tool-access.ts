// `system` `tool_access_policy` and `capability_revoked`: published for everybody's guards to read. [X1-4-3]
import { isObject, McpxError } from "@mcpx/protocol";
import type { Handling } from "../handling.ts";
import { type Outcome, publish } from "../outcome.ts";

export function handleToolAccess({ envelope }: Handling): Outcome {
  const { type, policy } = envelope.payload;
  if (type === "tool_access_policy" && !isObject(policy)) {
    throw new McpxError("bad_system", "payload.policy must be an object");
  }
  return publish;
}
