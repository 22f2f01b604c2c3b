// `kind: mcp`: one JSON-RPC message, checked in shape and never rewritten. [X0-4.1-1]
import { capabilityMethods, type Envelope, jsonRpcShape, McpxError } from "@mcpx/protocol";
import { findOpenRequest } from "../handling/find-open-request.ts";
import { type HandlerOutcome, type Handling, publish } from "../handling/handling.ts";
import { findReferred } from "../room/referred.ts";
import { enforceCall } from "../tool-access/enforce-call.ts";
import { noteGrant } from "../tool-access/note-grant.ts";

export async function handleMcp(handling: Handling): Promise<HandlerOutcome> {
  const { envelope } = handling;
  const shape = jsonRpcShape(envelope.payload);
  checkSpelledMethod(envelope, shape === "request");
  if (shape === "request" && envelope.to.length !== 1) {
    throw new McpxError("request_needs_one_target", `to names ${envelope.to.length} participants`); // [X0-4.1-2]
  }
  if (shape === "response") return checkResponse(handling);
  if (handling.member.room.toolAccess !== "off") await checkAccess(handling, shape === "request");
  return publish;
}

/** Only where the topic's configuration wants it: everywhere else the gateway reads no methods. [AC-6-1] [X1-3.2-1] */
async function checkAccess(handling: Handling, isRequest: boolean): Promise<void> {
  const { gateway, member, envelope } = handling;
  const { method } = envelope.payload;
  if (method !== "tools/call" && method !== capabilityMethods.request) return;
  // Some owners would do it all the same.
  if (!isRequest) {
    throw new McpxError("bad_json_rpc", `${method} without an id`, { suggestion: "Send it with an id" });
  }
  if (method === "tools/call") await enforceCall(handling);
  if (method === capabilityMethods.request) {
    gateway.rates.chargeCapabilityRequest(member.participant.id, gateway.clock.monotonic()); // [AC-6-3]
  }
}

/** A response answers a request that was addressed to its sender. */
async function checkResponse(handling: Handling): Promise<HandlerOutcome> {
  const { member, permission } = handling;
  const correlationId = await correlationOf(handling);
  const referred = await findReferred(member.room, correlationId);
  const isAddressee = referred?.isRequest === true && referred.to.includes(member.participant.id);
  if (
    isAddressee &&
    member.room.toolAccess !== "off" &&
    referred.payload.method === capabilityMethods.request
  ) {
    noteGrant(handling, referred.from);
  }
  if (!isAddressee && (referred !== undefined || permission === "addressed")) {
    throw new McpxError("not_the_addressee", "no request with that envelope id was addressed to you");
  }
  return { ...publish, correlationId };
}

/** The envelope id of the request that a response answers. [X0-4-5] */
function correlationOf({ gateway, member, envelope }: Handling): string | Promise<string> {
  if (envelope.correlationId !== undefined) return envelope.correlationId;
  if (envelope.protocol === "mcp-x/v0") {
    return findOpenRequest(member.room, envelope, member.participant.id, gateway.limits);
  }
  throw new McpxError("response_needs_correlation", "correlation_id is missing in a JSON-RPC response");
}

/** COMPAT: a kind that says request carries one, and a method spelled into it is the payload's. [PL-7-2] */
function checkSpelledMethod({ kind, payload }: Envelope, isRequest: boolean): void {
  if (kind.isRequest && !isRequest)
    throw new McpxError("bad_json_rpc", "this kind carries requests: payload needs method and id");
  if (kind.method !== undefined && kind.method !== payload.method)
    throw new McpxError("bad_json_rpc", "kind and payload name different methods");
}
