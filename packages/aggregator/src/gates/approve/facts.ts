// What the page says of a call: exactly what will be sent, who asks, how dangerous it is, and who has decided.
import { hash } from "node:crypto";
import { isId, McpxError, namesAsker, type ServerTerms, statementOf, statementText } from "@mcpx/protocol";
import type { TreeState } from "../../tree-state.ts";
import { type Gate, termsOf } from "../gate-store.ts";
import { toolWarnings } from "../gate-warnings.ts";
import { anchorsNow, type Gatekeeper } from "../gatekeeper.ts";
import { dangersOf, whyText } from "./dangers.ts";
import { type LastApproved, lastApproved } from "./last-approved.ts";

export interface CallFacts {
  confirmation_id: string;
  status: Gate["status"];
  tool: string;
  route: readonly string[];
  /** The JSON that will be sent, to the byte: numbers are not read and written again. */
  arguments_text: string;
  arguments_digest: string;
  asked_by: string;
  /** Whether who asks and the server are part of what is signed; not in gates of older builds. */
  asker_signed: boolean;
  server?: ServerTerms | undefined;
  asked_at: string;
  why: string;
  dangers: string[];
  /** What the tool's definition hides or imitates. */
  warnings: string[];
  expires_at: string;
  /** By our clock; the browser's may be wrong. */
  expires_in_ms: number;
  /** Of the result, where that is held or was. Never the result itself: whoever asked may look here too. */
  result_digest?: string | undefined;
  /** Of the call, or once its result is held of that. */
  approvals: { by: string; at: string }[];
  /** How many are needed. */
  approvers: number;
  rejected_by?: string | undefined;
  reason?: string | undefined;
  last?: LastApproved | undefined;
  /** What has to be signed, elsewhere. */
  statements: { approve: string; reject: string };
  /** Whether any passkey can be used at this address. */
  has_passkeys: boolean;
}

/** Throws `confirmation_unknown`. */
export async function findGate({ store }: Gatekeeper, id: string | undefined): Promise<Gate> {
  const gate = isId(id) ? await store.find(id) : undefined;
  if (gate === undefined) throw new McpxError("confirmation_unknown");
  return gate;
}

/** The same while nothing has become of it. */
export function versionOf(
  gates: Gatekeeper,
  { id, status, approvals, review, settledAt }: Gate,
  rpId: string,
): string {
  const names = [...approvals, ...(review?.approvals ?? [])].map(({ by }) => by);
  const parts = [id, status, names, settledAt, hasPasskeys(gates, rpId)];
  return `"${hash("sha256", JSON.stringify(parts), "base64url")}"`;
}

export async function factsOf(
  gates: Gatekeeper,
  gate: Gate,
  { state, rpId }: { state: TreeState; rpId: string },
): Promise<CallFacts> {
  const terms = termsOf(gate, gates.aggregatorId);
  const statement = (decision: "approve" | "reject") => statementText(statementOf(terms, decision));
  return {
    confirmation_id: gate.id,
    status: gate.status,
    tool: gate.tool,
    route: gate.route,
    arguments_text: gate.argumentsText,
    arguments_digest: gate.digest,
    asked_by: gate.principal,
    asker_signed: namesAsker(terms),
    server: terms.server,
    asked_at: new Date(gate.createdAt).toISOString(),
    why: whyText(gate.why),
    dangers: dangersOf(gate.capability, gate.why),
    warnings: toolWarnings(state, gate),
    expires_at: new Date(gate.expiresAt).toISOString(),
    expires_in_ms: Math.max(0, gate.expiresAt - state.clock.now()),
    result_digest: gate.review?.digest,
    approvals: (gate.review ?? gate).approvals.map(({ by, at }) => ({ by, at: new Date(at).toISOString() })),
    approvers: gate.approvers,
    rejected_by: gate.rejectedBy,
    reason: gate.reason,
    last: await lastApproved(gates.store, gate),
    statements: { approve: statement("approve"), reject: statement("reject") },
    has_passkeys: hasPasskeys(gates, rpId),
  };
}

function hasPasskeys(gates: Gatekeeper, rpId: string): boolean {
  return anchorsNow(gates).some((key) => key.kind === "passkey" && key.passkey.rpId === rpId);
}
