// What a consent is as a row: times in columns, the rest as one JSON text.
import { McpxError } from "@mcpx/protocol";
import type { Consent } from "./authorization-store.ts";

export type ConsentRow = [
  id: string,
  body: string,
  createdAt: number,
  expiresAt: number,
  usedAt: number | null,
];
type Body = Omit<Consent, "id" | "createdAt" | "expiresAt" | "usedAt">;

export function consentBody({
  id: _id,
  createdAt: _at,
  expiresAt: _end,
  usedAt: _used,
  ...body
}: Consent): string {
  return JSON.stringify(body satisfies Body);
}

export function readConsent([id, body, createdAt, expiresAt, usedAt]: ConsentRow): Consent {
  return { ...(JSON.parse(body) as Body), id, createdAt, expiresAt, usedAt: usedAt ?? undefined };
}

export function tooMany(max: number): McpxError {
  return new McpxError("rate_limited", `there are ${max} consents already`, {
    retryAfterMs: 60_000,
    suggestion: "Revoke some with `mcpx consents revoke ID`",
  });
}
