// A key made in the browser of the person who is logged in becomes an approver's. Only its public part comes here.
import { type ApproverStore, anchorKeys, type Gatekeeper, isApproverName } from "@mcpx/aggregator";
import { type Audit, readPublicJwk, thumbprint } from "@mcpx/host";
import { isObject, isReservedId, type JsonObject, McpxError } from "@mcpx/protocol";
import { checkFree, waitsOf } from "./passkeys/register.ts";

export interface EnrolOptions {
  gates: Pick<Gatekeeper, "anchors">;
  approvers: ApproverStore;
  audit: Audit;
  user: string;
}

export async function enrolBrowserKey(
  { gates, approvers, audit, user }: EnrolOptions,
  body: unknown,
): Promise<JsonObject> {
  const { name, jwk: given } = isObject(body) ? body : {};
  if (!isApproverName(name) || isReservedId(name)) {
    throw new McpxError("bad_request", "name must be 1 to 64 letters, digits, dots, dashes or underscores");
  }
  const jwk = isObject(given) && !("d" in given) ? readPublicJwk(given) : undefined;
  if (jwk === undefined) throw new McpxError("bad_request", "jwk must be a public Ed25519 or P-256 key");
  for (const key of anchorKeys([{ kind: "key", name, jwk }])) await checkFree(gates, key);
  await approvers.add({ name, jwk, kept: "browser" });
  const detail = { key: thumbprint(jwk), browser: true };
  await audit.recordNow({ action: "approver.enroll", actor: `console:${user}`, subject: name, detail });
  return { name, thumbprint: thumbprint(jwk), ...(await waitsOf(gates, name)) };
}
