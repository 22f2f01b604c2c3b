// Consents for admins: GET /admin/consents, DELETE /admin/consents/{id}. The console has both under its own path.
import { operatorRoute } from "@mcpx/aggregator";
import type { Identity, Route } from "@mcpx/host";
import { McpxError, quoteShort } from "@mcpx/protocol";
import { type ConsentParts, consentFacts, endConsent } from "./consents.ts";

export interface ConsentRoutesParts extends ConsentParts {
  identity: Pick<Identity, "tokens" | "revocations">;
}

export function consentRoutes(parts: ConsentRoutesParts): Route[] {
  const { store, clock } = parts;
  return [
    operatorRoute(parts, "GET", "/admin/consents", async () => ({
      body: { consents: (await store.consents(clock.now())).map(consentFacts) },
    })),
    operatorRoute(parts, "DELETE", "/admin/consents/:id", async ({ id: by = "admin" }, { params }) => {
      const { id = "" } = params;
      const consent = await store.consent(id, clock.now());
      if (consent === undefined || !(await endConsent(parts, id, { by, why: "revoked" })))
        throw new McpxError("not_found", `there is no consent with the id ${quoteShort(id)}`);
      return { body: consentFacts(consent) };
    }),
  ];
}
