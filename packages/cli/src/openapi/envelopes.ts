// What participants of a room send each other, kind by kind, as a schema: a field that is not named may be there, too.
import { kinds, protocols } from "@mcpx/protocol";
import { z } from "zod";
import { anything, count, id, time } from "./address.ts";

const text = z.string();
const reason = text.optional().describe("For people");
const requestId = z.union([text, z.number()]);

/** A message of MCP, which goes through as it came. */
const message = z.union([
  z.looseObject({
    jsonrpc: z.literal("2.0"),
    id: requestId.optional(),
    method: text,
    params: anything.optional(),
  }),
  z.looseObject({ jsonrpc: z.literal("2.0"), id: requestId, result: anything }),
  z.looseObject({
    ...{ jsonrpc: z.literal("2.0"), id: requestId.nullish() },
    error: z.looseObject({ code: z.int(), message: text }),
  }),
]);

const proposed = z.looseObject({
  method: text.describe("What somebody else may do"),
  params: anything,
  reason,
  ttl_ms: z.int().min(1).max(86_400_000).optional(),
  expires_at: text.optional().describe("RFC 3339"),
});

const participant = z.looseObject({ id, kind: text.optional(), privilege: text.optional() });

type Kind = (typeof kinds)[number];

const payloads: Readonly<Record<Kind, z.ZodType>> = {
  mcp: message,
  "mcp/proposal": proposed,
  chat: z.looseObject({ text, format: z.enum(["plain", "markdown"]).optional() }),
  presence: z.looseObject({ event: z.enum(["join", "leave", "heartbeat"]), participant }),
  system: z.union([
    z.looseObject({ event: text.describe("The gateway says so") }),
    z.looseObject({ type: text.describe("A participant says so") }),
  ]),
  "mcpx.withdraw.proposal": z.looseObject({ proposals: z.array(id).min(1).optional(), reason }),
  "mcpx.reject.proposal": z.looseObject({ reason, code: text.optional() }),
  "mcpx.status.proposal": z.looseObject({
    status: z.enum(["considering", "queued", "processing", "unable"]),
    reason,
  }),
};

/** As drafts wrote it: with the method, and with what it is about, behind. */
const spellings: Partial<Readonly<Record<Kind, RegExp>>> = {
  mcp: /^mcp(?:[./]request(?:[:.].*)?)?$/,
  "mcp/proposal": /^mcp[./]proposal(?:[:.].*)?$/,
};

function envelopeOf(kind: Kind) {
  const spelling = spellings[kind];
  return z.looseObject({
    protocol: z.enum(protocols),
    id,
    ts: text.optional().describe("When its sender says that it was made"),
    from: id,
    to: z.array(id).optional(),
    kind: spelling === undefined ? z.literal(kind) : text.max(256).regex(spelling),
    correlation_id: id.optional(),
    payload: payloads[kind],
    seq: count.optional().describe("Its number in the room, without gaps"),
    at: time.optional().describe("When the gateway got it"),
  });
}

const [first, ...others] = kinds;

export const envelope = z
  .union([envelopeOf(first), ...others.map(envelopeOf)])
  .describe("What participants of a room send each other");
