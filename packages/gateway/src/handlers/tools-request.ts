// COMPAT: `tools/request` of who may not call: the room is told, and a member that may can act on it. Proposals are
// the better way; only where `compat.toolsRequest` is on. [AC-11-1]
import { type Envelope, isObject, jsonRpcShape, McpxError, parseExact, payloadText } from "@mcpx/protocol";
import type { HandlerOutcome, Handling } from "../handling/handling.ts";

export function handleToolsRequest({ gateway, member, envelope }: Handling): HandlerOutcome {
  jsonRpcShape(envelope.payload);
  const [target, ...others] = envelope.to;
  if (target === undefined || others.length > 0) {
    throw new McpxError("request_needs_one_target", `to names ${envelope.to.length} participants`);
  }
  const { name, arguments: args = {}, reason } = paramsOf(envelope);
  if (typeof name !== "string") throw new McpxError("bad_params", "params.name must be a tool's name");
  if (!isObject(args)) throw new McpxError("bad_params", "params.arguments must be an object");
  gateway.rates.chargeProposal(member.participant.id, gateway.clock.monotonic());
  const type = "tool_request_pending";
  return {
    type: "done",
    announcement: {
      event: type,
      type,
      requester: member.participant.id,
      target,
      tool: name,
      arguments: args,
      requestId: envelope.payload.id,
      ...(typeof reason === "string" ? { reason } : {}),
    },
  };
}

/** Numbers as they came. */
function paramsOf(envelope: Envelope): Record<string, unknown> {
  const payload = parseExact(payloadText(envelope));
  return isObject(payload) && isObject(payload.params) ? payload.params : {};
}
