// Addresses of rooms, for their participants.
import { z } from "zod";
import { type Address, anything, count, id, level, limit, time } from "./address.ts";
import { envelope } from "./envelopes.ts";

const participant = z.strictObject({
  id,
  name: z.string().optional(),
  kind: z.enum(["human", "agent", "robot"]).optional(),
  privilege: level,
  own: z.literal(true).optional().describe("It is the gateway's own tree"),
  mcp: anything.optional().describe("Its MCP version, where it serves tools"),
  key: anything.optional().describe("Its public key as JWK"),
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
            .describe("Proposals that wait, the oldest first; missing where none does"),
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
    summary: "What was said in a room, newest first",
    query: {
      limit,
      before: { schema: point, about: "Only what came before it" },
      after: { schema: point, about: "Only what came after it" },
      before_seq: { schema: count, about: "Only lower numbers" },
      after_seq: { schema: count, about: "Only higher numbers" },
    },
    answer: z.strictObject({
      envelopes: z.array(envelope),
      next: z.string().optional().describe("The address of the next page"),
    }),
  },
  {
    ...{ method: "POST", path: "/v0/tickets", access: "participant" },
    summary: "A ticket for one WebSocket, good for 30 s: browsers cannot send headers there",
    body: z.strictObject({ topic: id }),
    status: 201,
    answer: z.strictObject({ ticket: z.string(), expires_at: time }),
  },
];
