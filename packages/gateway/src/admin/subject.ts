// Whom an admin's request is about.
import type { HttpRequest } from "@mcpx/host";
import { isId, McpxError } from "@mcpx/protocol";
import type { Gateway } from "../room/gateway-state.ts";

/** The participant of the path and, where the query narrows it, the topic. Never seen is a 404. [X1-10.3-2] */
export async function subjectOf(
  gateway: Gateway,
  request: HttpRequest,
): Promise<{ id: string; topic: string | undefined }> {
  const id = request.params.id;
  const topic = request.query.get("topic") ?? undefined;
  if (!isId(id)) throw new McpxError("bad_request", "invalid participant id");
  if (topic !== undefined && !isId(topic))
    throw new McpxError("bad_request", "topic must be the name of a topic");
  if (!(await gateway.participants.wasSeen(id, topic))) {
    throw new McpxError("not_found", "no participant with this id has ever joined");
  }
  return { id, topic };
}
