// What decides how much the gates hold: who approves, the rules, what is believed of servers, and panic. A map from
// keys to JSON values, so that a change is a key and its new value. Pure. [B-KEY-2]
//
//   approver/NAME                    somebody who was enrolled, with the public key or passkey
//   anchor/NAME                      the same from the configuration
//   rules                            the rules, `unannotated`, the quorum and the root's segment
//   bridge/NAME/USER                 an approver whose presses of buttons at that bridge count as approvals
//   panic                            true while it lasts
//   server/NAME/…, subserver/NAME/…  one thing each that is believed of a server, or that it is let off
//   device/NAME/…                    the same of a device's tools
//   unpinned                         true where definitions of tools may change unseen
//   scanner/NAME                     what looks at tools and their results
//   audit/NAME                       a place elsewhere that audit records are sent to
import { canonicalJson, isObject, type JsonObject } from "@mcpx/protocol";
import { type Anchor, type AnchorKey, anchorKeys } from "../proofs/anchors.ts";
import { anchorOf, readApprover } from "../store/approver-store.ts";
import { isWeakerPolicy } from "./weaker-rules.ts";

export type AuthorityState = ReadonlyMap<string, unknown>;

export interface AuthorityChange {
  readonly key: string;
  /** `null`: it is gone. */
  readonly value: unknown;
}

export function withChanges(state: AuthorityState, changes: readonly AuthorityChange[]): AuthorityState {
  const next = new Map(state);
  for (const { key, value } of changes) {
    if (value === null) next.delete(key);
    else next.set(key, value);
  }
  return next;
}

/** What has to be done to `from`, so that it says what `to` says. */
export function changesBetween(from: AuthorityState, to: AuthorityState): AuthorityChange[] {
  const keys = [...new Set([...from.keys(), ...to.keys()])].sort();
  return keys
    .filter((key) => !isSame(from.get(key), to.get(key)))
    .map((key) => ({ key, value: to.get(key) ?? null }));
}

/** Whether gates hold less by it, or somebody else decides: then an approver has to sign it. */
export function weakens(state: AuthorityState, { key, value }: AuthorityChange): boolean {
  const before = state.get(key) ?? null;
  if (isSame(before, value)) return false;
  const [kind = ""] = key.split("/");
  if (kind === "approver" || kind === "anchor") return true;
  if (kind === "panic") return value === null;
  if (kind === "rules") return before !== null && isWeakerPolicy(before, value);
  // What looks on is another, or is gone; one more looks only closer.
  if (kind === "scanner" || kind === "audit") return before !== null;
  // A tool of another name meets other rules, also when it gets its old one back.
  if (key.endsWith("/name")) return true;
  return value !== null;
}

/**
 * The keys that can sign a change. Programs that decide by themselves (policy engines, services) are not among them.
 */
export function signersOf(state: AuthorityState): readonly AnchorKey[] {
  return [...state].flatMap(([key, value]) => {
    if (!isObject(value)) return [];
    if (key.startsWith("approver/")) return anchorKeys([anchorOf(readApprover(withCounter(value)))]);
    if (key.startsWith("anchor/") && value.kind === "key") return anchorKeys([value as unknown as Anchor]);
    return [];
  });
}

/** An approver who presses buttons at a bridge, as it was signed. */
export interface SignedPress {
  readonly platform: string;
  /** What the bridge reaches: another program or address gets no say by its name. */
  readonly at: string;
  /** The approver. */
  readonly as: string;
  /** Of the bridge, for this person alone. */
  readonly jwk: object;
}

const pressKind = "bridge/";

/** The key of such a value in the state. */
export function pressPlace(bridge: string, user: string): string {
  return `${pressKind}${encodeURIComponent(bridge)}/${encodeURIComponent(user)}`;
}

/** The keys by which bridges bring presses of these people. Presses of a removed approver have no effect. */
export function pressKeys(state: AuthorityState, approvers: readonly AnchorKey[]): readonly AnchorKey[] {
  const people = new Set(approvers.filter(isPerson).map(({ name }) => name));
  return [...state].flatMap(([key, value]) => {
    if (!key.startsWith(pressKind) || !isObject(value) || !people.has(String(value.as))) return [];
    return anchorKeys([{ kind: "bridge", name: String(value.as), jwk: value.jwk as object }]);
  });
}

/** Somebody with a key or passkey of their own, and no program. */
function isPerson({ kind }: Pick<AnchorKey, "kind">): boolean {
  return kind === "key" || kind === "passkey";
}

/** How many of them must sign; none where there is nobody to ask. */
export function signaturesNeeded(state: AuthorityState): number {
  const people = new Set(signersOf(state).map(({ name }) => name)).size;
  const policy = state.get("rules");
  const quorum = isObject(policy) && typeof policy.quorum === "number" ? policy.quorum : 1;
  return Math.min(people, Math.max(1, quorum));
}

/** What a passkey has counted changes with every use, and is no part of who somebody is. */
function withCounter(value: JsonObject): JsonObject {
  if (!isObject(value.passkey)) return value;
  return { ...value, passkey: { transports: [], ...value.passkey, counter: 0 } };
}

export function isSame(one: unknown, other: unknown): boolean {
  return canonicalJson(one ?? null) === canonicalJson(other ?? null);
}
