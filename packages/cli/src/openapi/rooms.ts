// Addresses of rooms, for their participants.
import { z } from "zod";
import { type Address, anything, count, id, level, limit, time } from "./address.ts";
import { envelope } from "./envelopes.ts";

const participant = z.strictObject({
  id,
  name: z.string().optional(),
  kind: z.enum(["human", "agent", "robot"]).optional(),
  privilege: level,
  own: z.literal(true).optional().describe("This participant is the gateway's own tree"),
  mcp: anything.optional().describe("The participant's MCP version, if it serves tools"),
  key: anything.optional().describe("The participant's public key as JWK"),
  status: z.strictObject({ status: z.string(), text: z.string().optional() }).optional(),
});

const point = z.string().describe("The id of an envelope, or a time");

export const rooms: readonly Address[] = [
  {
    ...{ method: "GET", path: "/v0/topics", access: "participant", summary: "The rooms your token opens" },
    answer: z.strictObject({
      topics: z.array(
        z.strictObject({
          name: id,
          participants: count,
          seq: count,
          waiting: z
            .array(z.strictObject({ id, seq: count }))
            .optional()
            .describe("Proposals that wait, the oldest first; missing if none waits"),
        }),
      ),
    }),
  },
  {
    ...{ method: "GET", path: "/v0/topics/:topic/participants", access: "participant" },
    summary: "Who is in a room",
    answer: z.strictObject({ participants: z.array(participant) }),
  },
  {
    ...{ method: "GET", path: "/v0/topics/:topic/history", access: "participant" },
    summary: "The envelopes of a room, newest first",
    query: {
      limit,
      before: { schema: point, about: "Only envelopes before this one, or before this time" },
      after: { schema: point, about: "Only envelopes after this one, or after this time" },
      before_seq: { schema: count, about: "Only envelopes with a lower seq" },
      after_seq: { schema: count, about: "Only envelopes with a higher seq" },
    },
    answer: z.strictObject({
      envelopes: z.array(envelope),
      next: z.string().optional().describe("The address of the next page"),
    }),
  },
  {
    ...{ method: "POST", path: "/v0/tickets", access: "participant" },
    summary: "Make a ticket for one WebSocket, valid for 30 s: browsers cannot send headers with a WebSocket",
    body: z.strictObject({ topic: id }),
    status: 201,
    answer: z.strictObject({ ticket: z.string(), expires_at: time }),
  },
];
