// GET /admin/audit: what was decided and refused, newest first, and whether the chain is whole.
import type { HttpRequest, HttpResponse } from "@mcpx/host";
import { isoTime } from "../delivery/system-envelope.ts";
import { adminOf, numberOf } from "../rest/caller.ts";
import type { Gateway } from "../room/gateway-state.ts";

export async function readAudit(gateway: Gateway, request: HttpRequest): Promise<HttpResponse> {
  await adminOf(gateway, request);
  const { query } = request;
  const limit = Math.min(numberOf(query, "limit", 100), gateway.limits.historyPageMax);
  const before = numberOf(query, "before", undefined);
  const action = query.get("action") ?? undefined;
  const actor = query.get("actor") ?? undefined;
  const since = numberOf(query, "since", undefined);
  const found = await gateway.audit.list({
    limit,
    since,
    ...(before === undefined ? {} : { before }),
    ...(action ? { action } : {}),
    ...(actor ? { actor } : {}),
  });
  const records = found.map((record) => ({ ...record, at: isoTime(record.at) }));
  const chain = query.get("verify") === "1" ? { chain: await gateway.audit.verify() } : {};
  return { body: { records, ...chain } };
}
