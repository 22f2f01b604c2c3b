// Addresses that administer rooms, tokens and the audit.
import { z } from "zod";
import { type Address, actor, anything, count, id, level, limit, time, topic } from "./address.ts";

const admin = "admin" as const;
const ofTopic = { topic: { ...topic, about: "The room in which this counts; all rooms unless given" } };
const nullable = z.string().nullable();

const changed = (by: "promotedBy" | "demotedBy", at: "promotedAt" | "demotedAt") =>
  z.strictObject({
    participantId: id,
    oldPrivilege: z.union([level, z.literal("none")]),
    newPrivilege: level,
    [by]: actor,
    [at]: time,
    topic: id.optional(),
  });

const chained = {
  action: z.string().describe("The action: room.join, gate.approve"),
  count: z.int().min(1).describe("How many identical refusals this record stands for"),
  hash: z.string().describe("SHA-256 over the previous record's hash and this record"),
};

const record = z.strictObject({
  ...{ seq: count, at: time, ...chained },
  reason: z.string().optional().describe("Why the action was refused; missing where it was allowed"),
  actor: z.string().optional(),
  subject: z.string().optional(),
  topic: z.string().optional(),
  detail: z.union([anything, z.string()]).optional(),
});

const row = z.strictObject({
  ...{ seq: count, at: count.describe("Ms since 1970"), ...chained },
  ...{ reason: nullable, actor: nullable, subject: nullable, topic: nullable },
  detail: nullable.describe("The JSON text that was hashed"),
});

const since = { schema: count, about: "Only records from this time on, in ms since 1970" };

export const administration: readonly Address[] = [
  {
    ...{ method: "POST", path: "/admin/participants/:id/promote", access: admin },
    summary: "Give a participant more rights, at once and for good",
    query: { ...ofTopic, level: { schema: level, about: "The new level; full unless given" } },
    answer: changed("promotedBy", "promotedAt"),
  },
  {
    ...{ method: "POST", path: "/admin/participants/:id/demote", access: admin },
    summary: "Take rights from a participant, at once and for good",
    query: { ...ofTopic, level: { schema: level, about: "The new level; restricted unless given" } },
    answer: changed("demotedBy", "demotedAt"),
  },
  {
    ...{ method: "DELETE", path: "/admin/participants/:id", access: admin },
    summary: "Kick a participant: its connections end, and it cannot come back until an admin sets its level",
    query: ofTopic,
    answer: z.strictObject({
      ...{ participantId: id, kickedBy: actor, kickedAt: time, topic: id.optional() },
      connections: count.describe("How many connections were ended"),
    }),
  },
  {
    ...{ method: "DELETE", path: "/admin/participants/:id/key", access: admin },
    summary: "Forget a participant's key, so that it may bring another",
    answer: z.strictObject({ participantId: id, resetBy: actor }),
  },
  {
    ...{ method: "GET", path: "/admin/connections", access: admin, summary: "Who is connected to rooms" },
    answer: z.strictObject({
      connections: z.array(
        z.strictObject({
          ...{ connectionId: z.string(), participantId: id, topic: id, privilege: level },
          ...{ protocol: z.string(), connectedAt: time, tokenExpiresAt: time },
          ...{ seq: count, queuedBytes: count },
        }),
      ),
    }),
  },
  {
    ...{ method: "GET", path: "/admin/audit", access: admin, summary: "The audit, newest first" },
    query: {
      limit,
      since,
      before: { schema: count, about: "Only records with a lower seq" },
      action: { schema: z.string(), about: "An action; * is any run of characters" },
      actor: { schema: z.string(), about: "Only records of this actor" },
      verify: { schema: z.literal("1"), about: "1 verifies the whole chain as well" },
    },
    answer: z.strictObject({ records: z.array(record), chain: anything.optional() }),
  },
  {
    ...{ method: "GET", path: "/admin/audit/chain", access: admin },
    summary: "The records exactly as the chain hashes them, oldest first",
    query: { limit, since, after: { schema: count, about: "Only records with a higher seq" } },
    answer: z.strictObject({
      records: z.array(row),
      head: z.strictObject({ seq: count, hash: z.string() }),
      pruned: z.strictObject({ to: count, hash: z.string(), at: count }).optional(),
    }),
  },
  {
    ...{ method: "GET", path: "/admin/proposals", access: admin },
    summary: "Proposals of rooms, and their outcomes",
    query: { topic, since, next: { schema: z.string(), about: "The field next of the previous page" } },
    answer: z.strictObject({
      records: z.array(
        z.strictObject({
          ...{ at: count, action: z.string(), actor: z.string(), subject: z.string().optional() },
          ...{ topic: id, detail: anything },
        }),
      ),
      next: z.string().optional(),
    }),
  },
  {
    ...{ method: "GET", path: "/admin/tokens", access: admin, summary: "Tokens that were issued here" },
    query: { limit },
    answer: z.strictObject({
      tokens: z.array(
        z.strictObject({
          ...{ jti: z.string(), sub: z.string().optional(), kid: z.string() },
          claims: anything.describe("The token's claims; never the token itself"),
          ...{ issuedAt: time, expiresAt: time, revokedAt: time.nullable() },
        }),
      ),
    }),
  },
  {
    ...{ method: "POST", path: "/admin/signing-keys", access: "here" },
    summary: "A new signing key; tokens that the old one signed stay valid until they end",
    status: 201,
    answer: z.strictObject({ kid: z.string(), retired: z.string().nullable() }),
  },
  {
    ...{ method: "DELETE", path: "/admin/tokens/:jti", access: admin, summary: "Revoke a token" },
    answer: z.strictObject({
      ...{ jti: z.string(), revokedBy: actor, revokedAt: time },
      known: z.boolean().describe("Whether this gateway issued the token"),
    }),
  },
  {
    ...{ method: "GET", path: "/admin/capabilities", access: admin },
    summary: "Capabilities that were granted in rooms",
    query: { topic },
    answer: z.strictObject({
      capabilities: z.array(
        z.strictObject({
          ...{ topic: id, issuer: id, id: z.string(), holder: z.string() },
          tools: z.union([z.string(), z.array(z.unknown())]),
          toolsLeftOut: count.optional(),
          maxUses: count.optional(),
          ...{ seenAt: time, expiresAt: time },
        }),
      ),
    }),
  },
  {
    ...{ method: "DELETE", path: "/admin/capabilities/:topic/:issuer/:id", access: admin },
    summary: "Revoke a capability, although another participant issued it",
    answer: z.strictObject({
      ...{ topic: id, issuer: id, id, revokedBy: actor, revokedAt: time, known: z.boolean() },
    }),
  },
];
