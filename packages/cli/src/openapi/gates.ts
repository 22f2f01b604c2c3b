// Addresses of gates: what waits, decisions, rules, grants, and who approves.
import type { GateStatus, RuleAction } from "@mcpx/aggregator";
import { z } from "zod";
import { type Address, anything, count, texts, time } from "./address.ts";

const admin = "admin" as const;
const here = "here" as const;

const statuses = {
  pending: true,
  approved: true,
  consumed: true,
  done: true,
  failed: true,
  rejected: true,
  expired: true,
  indeterminate: true,
  held: true,
  withheld: true,
  refused: true,
} satisfies Record<GateStatus, true>;
const status = z.enum(Object.keys(statuses) as GateStatus[]);
const action = z.enum(["allow", "ask", "deny", "always_ask"] satisfies RuleAction[]);

const approver = z.strictObject({
  name: z.string(),
  kind: z.string(),
  thumbprint: z.string(),
  kept: z.string().optional(),
});

const approval = z.strictObject({ by: z.string(), thumbprint: z.string(), at: time });

const gate = {
  id: z.string(),
  nonce: z.string(),
  status,
  principal: z.string().describe("The caller"),
  session: z.string(),
  keys: texts.describe("Thumbprints of the asker's own keys, which never approve it"),
  tool: z.string(),
  digest: z.string().describe("The digest of the arguments"),
  server: anything.optional(),
  token: anything.optional(),
  route: texts,
  createdAt: time,
  expiresAt: time,
  heldAt: time.optional(),
  settledAt: time.optional(),
  approvals: z.array(approval),
  review: z
    .strictObject({ outcome: z.enum(["done", "failed"]), digest: z.string(), approvals: z.array(approval) })
    .optional(),
  isDelivered: z.boolean(),
  rejectedBy: z.string().optional(),
  reason: z.string().optional(),
  refusal: z.string().optional().describe("The reason of the error because of which the call was not sent"),
  askerSigned: z.boolean(),
  terms: anything.describe("What an approver signs"),
};

const wholeGate = z.looseObject({
  ...gate,
  arguments: anything,
  argumentsText: z.string().describe("The arguments exactly as they are sent"),
  warnings: texts,
  secrets: texts.describe("Where the tool's schema says that arguments are secret"),
  statements: z.strictObject({ approve: z.string(), reject: z.string() }),
  outcome: z.unknown().optional(),
  resultText: z.string().optional(),
  last: anything.optional().describe("The last call of this tool that was approved and done"),
});

const grant = z.looseObject({
  id: z.string(),
  principal: z.string(),
  tools: z.string().describe("A tool's name, or a glob"),
  grantedBy: z.string(),
  reason: z.string(),
  expiresAt: time.optional(),
  leftMs: count.optional(),
  usesLeft: count.optional(),
});

const rule = {
  tools: z.string().describe("A tool's name, or a glob"),
  action,
  where: anything.optional(),
  approvers: count.optional(),
  holdResult: z.boolean().optional(),
};

const judged = { action, why: z.string() };

export const gates: readonly Address[] = [
  {
    ...{ method: "GET", path: "/admin/gates", access: admin, summary: "Calls that wait, or have waited" },
    query: { status: { schema: status, about: "Only gates with this status" } },
    answer: z.strictObject({
      gates: z.array(z.looseObject(gate)),
      approvers: z.array(approver),
      panic: z.boolean(),
    }),
  },
  {
    ...{ method: "GET", path: "/admin/gates/:id", access: admin },
    summary: "One call, with its arguments and what is to be signed",
    answer: wholeGate,
  },
  {
    ...{ method: "POST", path: "/admin/gates/:id/decision", access: admin },
    summary: "Decide, by a proof that an approver has signed",
    body: z.strictObject({ proof: z.string() }),
    answer: wholeGate,
  },
  {
    ...{ method: "POST", path: "/admin/secrets/shown", access: admin },
    summary: "Record that a secret is about to be looked at",
    body: z.strictObject({
      gate: z.string().optional(),
      topic: z.string().optional(),
      envelope: z.string().optional(),
    }),
    answer: z.strictObject({}),
  },
  {
    ...{
      method: "GET",
      path: "/admin/grants",
      access: admin,
      summary: "The grants: calls that need no approval for a while",
    },
    answer: z.strictObject({ grants: z.array(grant) }),
  },
  {
    ...{
      method: "POST",
      path: "/admin/grants/terms",
      access: here,
      summary: "The terms of a grant, to be signed",
    },
    body: z.looseObject({ principal: z.string().optional(), tools: z.string().optional() }),
    answer: z.strictObject({ terms: anything, passkey: anything.optional() }),
  },
  {
    ...{
      method: "POST",
      path: "/admin/grants",
      access: here,
      summary: "Make a grant whose terms an approver has signed",
    },
    body: z.strictObject({
      grant_id: z.string(),
      proof: z.string().optional(),
      credential: anything.optional(),
    }),
    answer: anything,
  },
  {
    ...{ method: "DELETE", path: "/admin/grants/:id", access: admin, summary: "Revoke a grant" },
    answer: z.strictObject({ revoked: z.string() }),
  },
  {
    ...{
      method: "GET",
      path: "/admin/rules",
      access: admin,
      summary: "The rules, and the tools that they are about",
    },
    query: {
      list_wait_ms: {
        schema: count.max(60_000),
        about: "How long to wait for the tools of any one server; as long as the server has, unless given",
      },
    },
    answer: z.strictObject({
      rules: z.array(z.strictObject({ ...rule, number: count, matches: texts })),
      rest: z.array(z.strictObject({ tool: z.string(), ...judged })),
      unannotated: z.enum(["ask", "allow"]),
      quorum: count,
      panic: z.boolean(),
      awaited: texts,
    }),
  },
  {
    ...{ method: "POST", path: "/admin/rules/test", access: admin },
    summary: "What the rules would do with a call; nothing is called",
    body: z.strictObject({ tool: z.string().max(255), arguments: anything.optional() }),
    answer: z.looseObject({ ...judged, tool: z.string(), isKnown: z.boolean(), capability: anything }),
  },
  {
    ...{ method: "POST", path: "/admin/rules/try", access: admin },
    summary: "What other rules would have done with the last calls",
    body: z.strictObject({ rules: z.array(z.strictObject(rule)).max(1_000) }),
    answer: z.strictObject({
      calls: z.array(
        z.strictObject({
          ...{ at: time, actor: z.string(), tool: z.string(), count },
          ...{ before: action, after: action, why: z.string(), isConditional: z.boolean() },
        }),
      ),
    }),
  },
  {
    ...{ method: "POST", path: "/admin/panic", access: admin },
    summary: "Switch panic on or off; it can be switched off only at the gateway's machine or at its console",
    body: z.strictObject({ on: z.boolean() }),
    answer: z.strictObject({ panic: z.boolean(), waits: z.string().optional() }),
    also: [202],
  },
  {
    ...{ method: "GET", path: "/admin/approvers/chain", access: admin },
    summary: "The approvers, and the chain of signed changes that made them",
    answer: z.strictObject({
      aggregator_id: z.string(),
      approvers: z.array(approver),
      entries: z.array(anything),
      head: z.strictObject({ n: count, hash: z.string() }).nullable(),
      waiting: texts,
    }),
  },
  {
    ...{ method: "POST", path: "/admin/approvers/enrolments", access: here },
    summary: "Make an address at which a person registers a passkey to become an approver",
    body: z.strictObject({ name: z.string() }),
    status: 201,
    answer: z.strictObject({ url: z.string(), expires_at: time }),
  },
];
