// GET /admin/audit/chain: the records as their hashes cover them, oldest first, for those who export, follow or check.
import type { HttpRequest, HttpResponse } from "@mcpx/host";
import { adminOf, numberOf } from "../rest/caller.ts";
import type { Gateway } from "../room/gateway-state.ts";

const pageMax = 1_000;

export async function readAuditChain(gateway: Gateway, request: HttpRequest): Promise<HttpResponse> {
  await adminOf(gateway, request);
  const { query } = request;
  const limit = Math.min(numberOf(query, "limit", 100), pageMax);
  const since = numberOf(query, "since", undefined);
  const { rows, head, pruned } = await gateway.audit.page({
    after: numberOf(query, "after", 0),
    limit,
    since,
  });
  return { body: { records: rows, head: { ...head }, ...(pruned !== undefined && { pruned }) } };
}
