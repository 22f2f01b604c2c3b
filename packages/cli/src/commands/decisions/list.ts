// The commands of “Decisions”, in the order help shows them; each is a file of this folder.
import { type ListedCommand, listed } from "../../framework/command.ts";

export const decisionCommands: readonly ListedCommand[] = [
  listed(
    "pending",
    "show calls and proposals that wait for a human",
    async () => (await import("./pending.ts")).pending,
  ),
  listed(
    "approve",
    "approve a call at a gate, or fulfil a room's proposal",
    async () => (await import("./approve.ts")).approve,
  ),
  listed(
    "reject",
    "reject a call at a gate, or a room's proposal",
    async () => (await import("./reject.ts")).reject,
  ),
  listed(
    "hook",
    "ask people before Claude Code uses a tool of its own",
    async () => (await import("./hook.ts")).hook,
  ),
  listed(
    "grants",
    "show grants: calls that need no approval for a while",
    async () => (await import("./grants.ts")).grants,
  ),
  listed(
    "grants add",
    "grant calls of an agent, so that they need no approval",
    async () => (await import("./grants-add.ts")).grantsAdd,
  ),
  listed("grants revoke", "revoke a grant", async () => (await import("./grants-revoke.ts")).grantsRevoke),
  listed(
    "rules",
    "show the rules: which tools wait for a human, and why",
    async () => (await import("./rules.ts")).rules,
  ),
  listed(
    "rules test",
    "show what the rules would do with a call",
    async () => (await import("./rules-test.ts")).rulesTest,
  ),
  listed(
    "panic",
    "send every call to a gate, until it is off again",
    async () => (await import("./panic.ts")).panic,
  ),
  listed("audit", "show the audit: decisions and refusals", async () => (await import("./audit.ts")).audit),
  listed(
    "audit verify",
    "check that nobody changed the audit or an export of it",
    async () => (await import("./audit-verify.ts")).auditVerify,
  ),
];
