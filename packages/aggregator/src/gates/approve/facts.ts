// What the page says of a call: exactly what will be sent, who asks, how dangerous it is, and who has decided.
import { hash } from "node:crypto";
import { type Capability, type GateTerms, isId, McpxError } from "@mcpx/protocol";
import type { TreeState } from "../../servers/tree-state.ts";
import { toolSecrets, toolWarnings, toolWord } from "../gate-warnings.ts";
import { type Gatekeeper, knownAnchors } from "../gatekeeper.ts";
import { type Gate, termsOf } from "../store/gate-store.ts";
import type { WhoseWord } from "../whose-word.ts";
import { type LastApproved, lastApproved } from "./last-approved.ts";

export interface CallFacts {
  status: Gate["status"];
  /** What an approver signs: who asks for which tool of which server, and the hashes of all that is shown. */
  terms: GateTerms;
  /** The JSON that will be sent, to the byte: numbers are not read and written again. */
  arguments_text: string;
  asked_by: string;
  asked_at: string;
  why: string;
  capability: Readonly<Capability>;
  /** What the tool's definition hides or imitates. */
  warnings: string[];
  /** Where its schema says that arguments are secret. */
  secrets: string[];
  /** Who says how dangerous the tool is. */
  word?: WhoseWord | undefined;
  /** By our clock; the browser's may be wrong. */
  expires_in_ms: number;
  /** Of the result, where that is held or was. Never the result itself: the asker may look here too. */
  result_digest?: string | undefined;
  /** Of the call, or once its result is held of that. */
  approvals: { by: string; at: string }[];
  /** How many are needed. */
  approvers: number;
  rejected_by?: string | undefined;
  reason?: string | undefined;
  last?: LastApproved | undefined;
  /** Whether any passkey can be used at this address. */
  has_passkeys: boolean;
}

/** Throws `confirmation_unknown`. */
export async function findGate({ store }: Gatekeeper, id: string | undefined): Promise<Gate> {
  const gate = isId(id) ? await store.find(id) : undefined;
  if (gate === undefined) throw new McpxError("confirmation_unknown");
  return gate;
}

/** A text that stays the same until the gate changes. */
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
  return {
    status: gate.status,
    terms: termsOf(gate, gates.aggregatorId),
    arguments_text: gate.argumentsText,
    asked_by: gate.principal,
    asked_at: new Date(gate.createdAt).toISOString(),
    why: gate.why,
    capability: gate.capability,
    warnings: toolWarnings(state, gate),
    secrets: toolSecrets(state, gate),
    word: toolWord(state, gate),
    expires_in_ms: Math.max(0, gate.expiresAt - state.clock.now()),
    result_digest: gate.review?.digest,
    approvals: (gate.review ?? gate).approvals.map(({ by, at }) => ({ by, at: new Date(at).toISOString() })),
    approvers: gate.approvers,
    rejected_by: gate.rejectedBy,
    reason: gate.reason,
    last: await lastApproved(gates.store, gate),
    has_passkeys: hasPasskeys(gates, rpId),
  };
}

function hasPasskeys(gates: Gatekeeper, rpId: string): boolean {
  return knownAnchors(gates).some((key) => key.kind === "passkey" && key.passkey.rpId === rpId);
}
