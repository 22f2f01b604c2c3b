// What an approver signs who allows calls beforehand: to whom, which tools, with which arguments, how long and how often.
// With `call`, the same signature lets a call go that waits. WebCrypto, since browsers sign too.
import { canonicalJson, sha256 } from "../json/canonical-json.ts";
import type { GateTerms } from "./gate.ts";
import { type RemoteStatementKey, type StatementKey, signText } from "./gate-signature.ts";

export interface GrantTerms {
  type: "grant";
  version: 1;
  aggregator_id: string;
  /** Made by the gateway for one signature. */
  grant_id: string;
  principal: string;
  /** A glob over canonical names. */
  tools: string;
  /** Only with these arguments. */
  arguments_digest?: string;
  ttl_ms?: number;
  uses?: number;
  /** Only while it lasts. */
  session?: string;
  reason?: string;
  /** A call that waits now: approved by the same signature. */
  call?: GateTerms;
  /** Seconds since 1970: a signature that comes later counts for nothing. */
  sign_before: number;
}

/** No proof about a gate passes for one about a grant, nor the other way round. */
export const grantProofType = "mcpx-grant+jwt";

/** What is signed, to the byte. */
export function grantText(terms: GrantTerms): string {
  return canonicalJson(terms);
}

/** What a passkey signs. */
export function grantChallenge(terms: GrantTerms): Promise<string> {
  return sha256(grantText(terms));
}

export function signGrant(terms: GrantTerms, key: StatementKey | RemoteStatementKey): Promise<string> {
  return signText(grantText(terms), grantProofType, key);
}

/** Exactly what it allows, in sentences: the same at every place where somebody signs it. */
export function grantLines({ principal, tools, call, ...terms }: GrantTerms): string[] {
  const { arguments_digest: digest, ttl_ms: ttlMs, uses, session } = terms;
  const ends = [
    ...(uses === undefined ? [] : [uses === 1 ? "once" : `${uses} times`]),
    ...(ttlMs === undefined ? [] : [`for ${timeText(ttlMs)}`]),
    ...(session === undefined ? [] : ["until its session ends"]),
  ];
  return [
    `${principal} may call ${tools} without an approval: ${ends.join(", ")}`,
    digest === undefined ? "with any arguments" : "only with exactly the arguments that were shown",
    ...(call === undefined
      ? []
      : [`and the call of ${call.tool} that waits now goes on, beside those (${call.confirmation_id})`]),
    "not where a rule always asks, several must approve, or panic is on; it ends with a restart of the gateway",
  ];
}

function timeText(ms: number): string {
  const units = [
    [86_400_000, "d"],
    [3_600_000, "h"],
    [60_000, "min"],
    [1_000, "s"],
  ] as const;
  const parts = units.flatMap(([size, unit], index) => {
    const count = Math.floor((index === 0 ? ms : ms % (units[index - 1]?.[0] ?? 1)) / size);
    return count === 0 ? [] : [`${count} ${unit}`];
  });
  return parts.length === 0 ? `${ms} ms` : parts.join(" ");
}
