// DELETE /admin/participants/{id}/key: the participant may bring another key.
import type { HttpRequest, HttpResponse } from "@mcpx/host";
import { isId, McpxError } from "@mcpx/protocol";
import { adminOf } from "../rest/caller.ts";
import type { Gateway } from "../room/gateway-state.ts";

export async function resetKey(gateway: Gateway, request: HttpRequest): Promise<HttpResponse> {
  const by = await adminOf(gateway, request);
  const id = request.params.id;
  if (!isId(id)) throw new McpxError("bad_request", "invalid participant id");
  if (!(await gateway.participants.resetKey(id)))
    throw new McpxError("not_found", "no key is registered for this participant");
  await gateway.audit.recordNow({ action: "participant.reset_key", actor: by, subject: id });
  return { body: { participantId: id, resetBy: by } };
}
