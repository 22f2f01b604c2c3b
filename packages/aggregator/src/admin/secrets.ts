// For the operator: POST /admin/secrets/shown, before what looks like a secret is shown: who looked, at which call at a
// gate or which envelope of a room. Where it cannot be recorded, nothing is shown.
import type { AuditEvent, Route } from "@mcpx/host";
import { isId, isObject, McpxError } from "@mcpx/protocol";
import { recordFirst } from "../gates/store/gate-records.ts";
import { type LocalGuard, operatorRoute } from "../mcp/operator.ts";
import { principalName } from "../mcp/plain-caller.ts";

export function secretRoute(guard: LocalGuard): Route {
  return operatorRoute(guard, "POST", "/admin/secrets/shown", async (by, request) => {
    await recordFirst(guard.audit, secretShown(principalName(by), await request.json()));
    return { body: {} };
  });
}

function secretShown(actor: string | undefined, body: unknown): AuditEvent {
  const { gate, topic, envelope } = isObject(body) ? body : {};
  const given = [gate, topic, envelope].filter((one) => one !== undefined);
  if (given.length === 0 || !given.every((one) => isId(one))) {
    throw new McpxError("bad_request", "give the id of a gate, or the ids of a topic and an envelope");
  }
  return {
    ...{ action: "secret.show", actor },
    ...(typeof topic === "string" && { topic }),
    detail: { ...(gate !== undefined && { gate }), ...(envelope !== undefined && { envelope }) },
  };
}
