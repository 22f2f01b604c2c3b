// POST /v0/tickets: a token becomes a single-use ticket for a browser's WebSocket. [X0-5.1-1]
import { type HttpRequest, type HttpResponse, mayEnter, type Principal } from "@mcpx/host";
import { isObject, McpxError } from "@mcpx/protocol";
import { issueTicketHere } from "../cluster/tickets.ts";
import { isoTime } from "../delivery/system-envelope.ts";
import { readTopic } from "../joining/admit.ts";
import type { Gateway } from "../room/gateway-state.ts";
import { levelFor } from "../room/level-for.ts";
import { callerOf } from "./caller.ts";

export async function issueTicket(gateway: Gateway, request: HttpRequest): Promise<HttpResponse> {
  const principal = await callerOf(gateway, request);
  const body = await request.json();
  if (!isObject(body) || typeof body.topic !== "string")
    throw new McpxError("bad_request", "the body must be {topic}");
  const topic = readTopic(body.topic);
  if (!mayEnter(principal, topic)) throw new McpxError("topic_forbidden");
  checkWelcome(gateway, principal, topic);
  const { ticket, expiresAt } = issueTicketHere(gateway, principal, topic);
  return { status: 201, body: { ticket, expires_at: isoTime(expiresAt) } };
}

/** A browser cannot read why its WebSocket was refused; here it can. */
function checkWelcome(gateway: Gateway, principal: Principal, topic: string): void {
  const { id } = principal;
  if (id === undefined) return;
  levelFor(gateway, principal, id, topic);
  if (gateway.options.takeover === "refuse" && gateway.rooms.get(topic)?.members.has(id)) {
    throw new McpxError("already_connected");
  }
}
