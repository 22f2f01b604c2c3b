// A conversation with a room, as if it were a server: its tools are those of everybody there, and a few of its own. What
// our level allows is called, what it does not is proposed. [B-ROOM-1]

import type { Room } from "@mcpx/client";
import { isObject, type JsonObject, McpxError, written } from "@mcpx/protocol";
import type { Link, LinkRequest, LinkTaker } from "../links/link.ts";
import { legacyRevisions } from "../mcp/era.ts";
import { createPeerLists, type PeerLists, type PeerListsBounds } from "./peer-lists.ts";
import { createPeerNames } from "./peer-names.ts";
import { createProposing, type Proposing, type ProposingOptions } from "./propose-call.ts";
import { faultInRoom, isLevelFault, isNothingServed } from "./room-fault.ts";
import { argumentsOf, findOwnTool, type OwnToolParts, ownItems } from "./room-own-tools.ts";

export interface RoomLinkOptions extends ProposingOptions {
  /** The participant that asks for tools on behalf of this one, where this one's level does not allow it. */
  scout?: (() => Promise<Room>) | undefined;
  /** Participants that are no peers, such as this gateway under another name. */
  isLeftOut?: ((id: string) => boolean) | undefined;
  bounds?: Partial<PeerListsBounds> | undefined;
}

interface Talk extends OwnToolParts {
  lists: PeerLists;
  proposing: Proposing;
}

/** No tool takes longer; the tree's own time is shorter. */
const callMs = 3_600_000;

/** The link ends with the room, and the room with the link. */
export function createRoomLink(room: Room, taker: LinkTaker, options: RoomLinkOptions = {}): Link {
  const { scout, isLeftOut = () => false, bounds = {} } = options;
  const names = createPeerNames();
  const proposing = createProposing(room, options);
  const changed = () => taker.notification("notifications/tools/list_changed", {});
  const lister = async () => (room.level === "full" || scout === undefined ? room : scout());
  const lists = createPeerLists({ room, lister, isLeftOut, names, changed, logLine: taker.logLine, bounds });
  const talk: Talk = { room, names, proposing, isLeftOut, lists };
  const ended = Promise.withResolvers<string>();
  room.addEventListener("state", ({ detail: { state, reason } }) => {
    if (state !== "closed") return;
    lists.close();
    proposing.close();
    ended.resolve(reason ?? "closed");
  });
  // What a call gives back is another thing then; see `listed`.
  room.addEventListener("level", ({ detail }) => {
    if (detail.participant === room.id) changed();
  });
  return {
    tellsQuestionsApart: true,
    facts: {
      era: "legacy",
      revision: legacyRevisions[0],
      capabilities: { tools: { listChanged: true } },
      info: { name: room.topic, version: "1" },
      instructions: instructionsOf(room),
    },
    request: (request) => answer(talk, request).catch((error: unknown) => Promise.reject(faultInRoom(error))),
    notify: () => {},
    watch: () => {},
    setLogLevel: () => {},
    ended: ended.promise,
    close: () => room.close(),
  };
}

/** What a client's model is told. */
export function instructionsOf({ topic, id, level }: Room): string {
  const how = {
    full: "you may call everybody's tools.",
    responder: "you may answer, and call nobody's tools.",
    restricted: "your calls become proposals, which somebody else in the room may make or reject.",
  }[level];
  return `You are in the room ${topic} as ${id}; ${how} Tools are named after the participant that offers them; the room's own tools tell who is there and what was said, and speak to people and agents there.`;
}

async function answer(talk: Talk, request: LinkRequest): Promise<JsonObject> {
  const { method, params } = request;
  if (method === "ping") return {};
  if (method === "tools/list") return { tools: [...ownItems, ...(await listed(talk))] };
  if (method !== "tools/call") throw new McpxError("unknown_method", method.slice(0, 100));
  const own = findOwnTool(params.name);
  return own === undefined ? callPeer(talk, request) : own.call(talk, argumentsOf(params), request);
}

/** Who proposes may be answered with something else than the tool's result, so that no form is promised. */
async function listed({ room, lists }: Talk): Promise<JsonObject[]> {
  const items = (await lists.read()).map(({ item }) => item);
  return room.level === "full" ? items : items.map(({ outputSchema, ...item }) => item);
}

async function callPeer({ room, lists, proposing }: Talk, request: LinkRequest): Promise<JsonObject> {
  const { params, signal, wantsProgress, notify } = request;
  const name = written(params.name);
  const found = lists.find(name) ?? (await lists.read()).find((tool) => tool.name === name);
  if (found === undefined) throw new McpxError("unknown_tool", name.slice(0, 300));
  const { peer, tool } = found;
  const args = argumentsOf(params);
  if (room.level === "full") {
    try {
      return await room.peer(peer).callTool(tool, args, {
        signal,
        propose: "never",
        timeoutMs: callMs,
        meta: traceIn(params),
        ...(wantsProgress && {
          onProgress: (progress) => notify("notifications/progress", { ...progress }),
        }),
      });
    } catch (error) {
      // The connection that served is gone; another connection of the same participant is still here.
      if (isNothingServed(error)) lists.outdate(peer);
      // Our level fell while we asked.
      if (!isLevelFault(error) || signal.aborted) throw error;
    }
  }
  if (room.level === "responder") return refusal(peer);
  return proposing.call({ peer, tool, args }, request);
}

const traceCharsMax = 512;

/** What the trace of a call says goes on to the participant; nothing else of what clients say beside a call does. */
function traceIn({ _meta }: JsonObject): JsonObject | undefined {
  if (!isObject(_meta)) return undefined;
  const isText = (value: unknown) => typeof value === "string" && value.length <= traceCharsMax;
  const { traceparent, tracestate } = _meta;
  if (!isText(traceparent)) return undefined;
  return { traceparent, ...(isText(tracestate) && { tracestate }) };
}

/** For the model, which sees nothing but results. */
function refusal(peer: string): JsonObject {
  const text = `You are here as a responder: you answer calls and make none, so ${peer} was not called. An admin of the room can give you the level full or restricted.`;
  return {
    content: [{ type: "text", text }],
    structuredContent: { status: "refused", reason: "privilege_violation" },
    isError: true,
  };
}
