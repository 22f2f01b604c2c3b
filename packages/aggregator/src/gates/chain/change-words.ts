// A change of what the gates hold, as a sentence for the approver who has to sign it. What is signed has these words in
// it, so none of them may be worded anew: chains that were signed before would not be verified any more. Pure.
// [B-KEY-2]
import { readPublicJwk, thumbprint } from "@mcpx/host";
import { canonicalJson, isObject, type JsonObject } from "@mcpx/protocol";
import type { AuthorityChange, AuthorityState } from "./authority-state.ts";
import { signersOf } from "./authority-state.ts";

export function sentencesOf(state: AuthorityState, changes: readonly AuthorityChange[]): string[] {
  return changes.map((change) => sentenceOf(state, change));
}

function sentenceOf(state: AuthorityState, { key, value }: AuthorityChange): string {
  const [kind = "", name = "", ...rest] = key.split("/");
  const isNew = !state.has(key);
  switch (kind) {
    case "approver":
    case "anchor":
      if (value === null) return `${name} approves nothing any more`;
      return `${name} ${isNew ? "may approve" : "approves with another key"}${keyWords(key, value)}`;
    case "rules":
      return rulesSentence(state.get(key), value);
    case "panic":
      return value === null ? "panic is over: the rules count again" : "panic: every call waits for a human";
    case "bridge":
      return pressSentence(name, rest, value);
    case "unpinned":
      return value === null ? "changed tools wait again" : "tools that have changed do not wait any more";
    case "scanner":
      return watcherSentence(`the scanner ${name}`, "looks at tools and their results", { isNew, value });
    case "audit":
      return watcherSentence(`the place ${name}`, "gets the records of the audit", { isNew, value });
    default:
      return serverSentence(`${kind} ${name}`, rest, value);
  }
}

function keyWords(key: string, value: unknown): string {
  const [signer] = signersOf(new Map([[key, value]]));
  if (signer === undefined) return ", as a program that decides by itself";
  const what = signer.kind === "passkey" ? `the passkey made at ${signer.passkey.origin},` : "the key";
  return `, with ${what} ${signer.thumbprint}`;
}

function rulesSentence(before: unknown, after: unknown): string {
  if (!isObject(after)) return "the rules are gone";
  const { rules, unannotated, quorum } = after;
  const count = Array.isArray(rules) ? rules.length : 0;
  const parts = [
    isObject(before) && canonicalJson(before.rules ?? []) === canonicalJson(rules ?? [])
      ? "the rules stay"
      : `${count} ${count === 1 ? "rule decides" : "rules decide"}`,
    unannotated === "allow"
      ? "tools that say nothing of themselves are let through"
      : "what is unknown is asked for",
    `${String(quorum)} must approve`,
  ];
  return parts.join("; ");
}

function pressSentence(bridge: string, [user = ""]: readonly string[], value: unknown): string {
  const [where, who] = [bridge, user].map(decodeURIComponent);
  if (!isObject(value)) return `at the bridge ${where} presses of ${who} decide about no call any more`;
  const what = `with the bridge's key ${keyAt(value)}: only calls that can be undone`;
  return `at the bridge ${where} (${String(value.platform)}) presses of ${who} approve as ${String(value.as)}, ${what}`;
}

function keyAt({ jwk }: JsonObject): string {
  const key = readPublicJwk(isObject(jwk) ? jwk : {});
  return key === undefined ? "that cannot be read" : thumbprint(key);
}

function watcherSentence(
  who: string,
  does: string,
  { isNew, value }: { isNew: boolean; value: unknown },
): string {
  if (value === null) return `${who}, which ${does}, is gone`;
  return isNew ? `${who} ${does}` : `${who}, which ${does}, is another, or does so otherwise`;
}

const privileges: Readonly<Record<string, string>> = {
  trusted: "what it says of its tools is believed",
  unannotated: "its tools that say nothing of themselves are let through",
  unpinned: "its tools may change unseen",
  named: "a rule that allows calls names it, and it is another program or address",
  development: "it needs no proof of its name",
};

function serverSentence(who: string, rest: readonly string[], value: unknown): string {
  const [privilege = "", tool = "", what = ""] = rest;
  if (privilege === "tool") {
    const of = `${who}: its tool ${tool}`;
    if (value === null)
      return `${of} has no ${what === "name" ? "other name" : "danger of its own"} any more`;
    return what === "name" ? `${of} gets another name` : `${of} is as dangerous as the configuration says`;
  }
  const words = privileges[privilege] ?? privilege;
  return value === null ? `${who}: not any more: ${words}` : `${who}: ${words}`;
}
