// POST /v0/tickets: a token becomes a single-use ticket for a browser's WebSocket. [X0-5.1-1]
import { type HttpRequest, type HttpResponse, mayEnter } from "@mcpx/host";
import { isObject, McpxError } from "@mcpx/protocol";
import { readTopic } from "../admit.ts";
import type { Gateway } from "../gateway-state.ts";
import { isoTime } from "../system-envelope.ts";
import { callerOf } from "./caller.ts";

export async function issueTicket(gateway: Gateway, request: HttpRequest): Promise<HttpResponse> {
  const principal = await callerOf(gateway, request);
  const body = await request.json();
  if (!isObject(body) || typeof body.topic !== "string")
    throw new McpxError("bad_request", "the body must be {topic}");
  const topic = readTopic(body.topic);
  if (!mayEnter(principal, topic)) throw new McpxError("topic_forbidden");
  const { ticket, expiresAt } = gateway.identity.tickets.issue(principal, topic);
  return { status: 201, body: { ticket, expires_at: isoTime(expiresAt) } };
}
