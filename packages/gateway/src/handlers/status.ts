// `mcpx.status.proposal`: what somebody is doing about a proposal. [PL-5-1]
import { McpxError } from "@mcpx/protocol";
import { type HandlerOutcome, type Handling, publish } from "../handling/handling.ts";
import { checkReason } from "../handling/lifecycle.ts";

const statuses = ["considering", "queued", "processing", "unable"];

export function handleStatus({ gateway, envelope }: Handling): HandlerOutcome {
  checkReason(envelope, gateway.limits);
  if (envelope.correlationId === undefined) throw new McpxError("bad_lifecycle", "correlation_id is missing");
  if (!statuses.includes(envelope.payload.status as string)) {
    throw new McpxError("bad_lifecycle", `payload.status must be one of ${statuses.join(", ")}`);
  }
  return publish;
}
