// Somebody is no longer an approver: the key or passkey is forgotten at once. Who may approve instead is decided by a
// signature. [B-KEY-2]
import { type ApproverStore, isApproverName } from "@mcpx/aggregator";
import type { Audit } from "@mcpx/host";
import { type JsonObject, McpxError } from "@mcpx/protocol";

export interface RemoveApproverOptions {
  approvers: ApproverStore;
  audit: Audit;
  user: string;
}

export async function removeApprover(
  { approvers, audit, user }: RemoveApproverOptions,
  name: string,
): Promise<JsonObject> {
  if (!isApproverName(name) || !(await approvers.remove(name))) {
    throw new McpxError("not_found", "no approver of this name was enrolled here", {
      suggestion: "Those of the configuration are taken out there",
    });
  }
  await audit.recordNow({ action: "approver.remove", actor: `console:${user}`, subject: name });
  return { name };
}
