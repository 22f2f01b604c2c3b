// The room's own tools: saying something, who is here, what was said, the outcome of a proposal. [X0-8.2-1]
import type { Room, RoomEnvelope } from "@mcpx/client";
import { harmless, isObject, type JsonObject, McpxError, numberOf } from "@mcpx/protocol";
import type { LinkRequest } from "../links/link.ts";
import { waitMsOf, waitSchema } from "../mcp/wait-times.ts";
import type { PeerNames } from "./peer-names.ts";
import type { Proposing } from "./propose-call.ts";

export interface OwnToolParts {
  room: Room;
  names: PeerNames;
  proposing: Proposing;
  isLeftOut(id: string): boolean;
}

interface OwnTool {
  item: JsonObject;
  call(parts: OwnToolParts, args: JsonObject, request: LinkRequest): Promise<JsonObject>;
}

const historyMax = 100;
const historyDefault = 20;
const payloadCharsMax = 4_000;
const pageCharsMax = 200_000;

const text = (description: string) => ({ type: "string", description });

const tools: readonly OwnTool[] = [
  {
    item: {
      ...ownItem("chat.say", "Says something in the room, to everybody or to some.", {
        required: ["text"],
        properties: {
          text: text("what to say"),
          to: {
            type: "array",
            items: { type: "string" },
            description: "ids of participants; by default everybody",
          },
          format: { type: "string", enum: ["plain", "markdown"] },
        },
      }),
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: false,
        openWorldHint: false,
      },
      // What was said stays said, and does nothing.
      _meta: capability({ mutable: true, idempotent: false, auth_scope: "write", latency_class: "standard" }),
    },
    call: say,
  },
  {
    item: ownItem("presence.get", "Who is in the room, and what their tools are called."),
    call: async (parts) => answer(presence(parts)),
  },
  {
    item: ownItem("history.get", "What was said and done in the room, newest first.", {
      properties: {
        limit: {
          type: "integer",
          minimum: 1,
          maximum: historyMax,
          description: `how many envelopes; ${historyDefault} by default`,
        },
        before: text("the field next_before of the previous page, an envelope id or a time"),
      },
      latency: "standard",
    }),
    call: history,
  },
  {
    item: ownItem("proposals.wait", "Waits for the outcome of a proposal of yours, and gives its result.", {
      required: ["proposal_id"],
      properties: {
        proposal_id: text("the proposal_id that the result with status proposal_pending gave"),
        timeout_ms: waitSchema,
      },
      latency: "slow",
    }),
    call: wait,
  },
];

export const ownItems: readonly JsonObject[] = tools.map(({ item }) => item);

export function findOwnTool(name: unknown): OwnTool | undefined {
  return tools.find(({ item }) => item.name === name);
}

function ownItem(
  name: string,
  description: string,
  {
    properties = {},
    required = [],
    latency = "fast",
  }: { properties?: JsonObject; required?: string[]; latency?: string } = {},
): JsonObject {
  return {
    name,
    description,
    inputSchema: { type: "object", properties, required, additionalProperties: false },
    annotations: { readOnlyHint: true, openWorldHint: false },
    _meta: capability({ latency_class: latency }),
  };
}

function capability(more: JsonObject): JsonObject {
  return { "x-mcpax-capability": { ...harmless, ...more } };
}

async function say({ room, names }: OwnToolParts, args: JsonObject): Promise<JsonObject> {
  const { text: said, format } = args;
  if (typeof said !== "string" || said === "") throw bad("text must be a string that is not empty");
  if (format !== undefined && format !== "plain" && format !== "markdown")
    throw bad("format must be plain or markdown");
  const to = args.to ?? [];
  if (!Array.isArray(to) || !to.every((one) => typeof one === "string"))
    throw bad("to must be a list of participants");
  const ids = to.map((one: string) => names.idOf(one));
  const receipt = await room.say(said, { to: ids, ...(format !== undefined && { format }) });
  return answer({ id: receipt.id, seq: receipt.seq ?? null, at: receipt.at });
}

function presence({ room, names, isLeftOut }: OwnToolParts): JsonObject {
  return {
    topic: room.topic,
    you: { id: room.id, privilege: room.level },
    participants: room.peers
      .filter(({ id }) => !isLeftOut(id))
      .map(({ id, name, kind, privilege, status }) => ({
        id,
        ...(name !== undefined && { name }),
        ...(kind !== undefined && { kind }),
        ...(privilege !== undefined && { privilege }),
        ...(status !== undefined && { status }),
        tools_as: names.of(id),
      })),
  };
}

async function history({ room }: OwnToolParts, args: JsonObject): Promise<JsonObject> {
  const { before } = args;
  const limit = numberOf(args.limit ?? historyDefault) ?? 0;
  if (!Number.isInteger(limit) || limit < 1) throw bad("limit must be a whole number from 1");
  if (before !== undefined && typeof before !== "string") throw bad("before must be a string");
  const page = await room.history({
    limit: Math.min(limit, historyMax),
    ...(before !== undefined && { before }),
  });
  let chars = 0;
  const shown = page.envelopes.map(shownEnvelope).filter((one) => {
    chars += JSON.stringify(one).length;
    return chars <= pageCharsMax;
  });
  const isMore = shown.length < page.envelopes.length || page.next !== undefined;
  const last = shown.at(-1);
  return answer({ envelopes: shown, ...(isMore && last !== undefined && { next_before: last.id }) });
}

function shownEnvelope({ id, from, to, kind, at, seq, correlation_id, payload }: RoomEnvelope): JsonObject {
  const isShort = JSON.stringify(payload).length <= payloadCharsMax;
  return {
    id,
    seq: seq ?? null,
    at: at ?? null,
    from,
    ...(to !== undefined && { to }),
    kind,
    ...(correlation_id !== undefined && { correlation_id }),
    ...(isShort
      ? { payload }
      : { payload_text: JSON.stringify(payload).slice(0, payloadCharsMax), is_cut: true }),
  };
}

function wait({ proposing }: OwnToolParts, args: JsonObject, request: LinkRequest): Promise<JsonObject> {
  const { proposal_id: id, timeout_ms: given } = args;
  if (typeof id !== "string") throw bad("proposal_id must be a string");
  const { wantsProgress, info } = request;
  return proposing.wait(id, waitMsOf({ given, wantsProgress, info }), request);
}

function answer(structuredContent: JsonObject): JsonObject {
  return {
    content: [{ type: "text", text: JSON.stringify(structuredContent, undefined, 1) }],
    structuredContent,
  };
}

function bad(detail: string): McpxError {
  return new McpxError("bad_params", detail);
}

/** The arguments of a call, whatever was sent. */
export function argumentsOf({ arguments: args }: JsonObject): JsonObject {
  if (args === undefined) return {};
  if (!isObject(args)) throw bad("arguments must be an object");
  return args;
}
