// For somebody at the gateway's machine or its console: POST /admin/signing-keys, as `mcpx token rotate` does it.
import { localRoute } from "@mcpx/aggregator";
import type { Audit, Identity, Route } from "@mcpx/host";

export interface SigningKeyRoutesOptions {
  identity: Pick<Identity, "tokens" | "secret" | "keys">;
  audit: Audit;
}

export function signingKeyRoutes(options: SigningKeyRoutesOptions): Route[] {
  const { identity, audit } = options;
  return [
    localRoute(options, "POST", "/admin/signing-keys", async ({ id }, request) => {
      await request.text();
      const { kid, retired = null } = await identity.keys.rotate();
      await audit.recordNow({ action: "token.rotate", actor: id ?? request.remoteAddress, subject: kid });
      return { status: 201, body: { kid, retired } };
    }),
  ];
}
