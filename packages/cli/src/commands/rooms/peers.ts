// `mcpx peers ROOM`: who is in a room, and what they can do.
import type { Room, Tool } from "@mcpx/client";
import { isObject, type JsonObject } from "@mcpx/protocol";
import { callGateway, type Entrance } from "../../access/gateway-access.ts";
import { accessRoom, enterRoom, roomOptions } from "../../access/room-access.ts";
import { type Context, defineCommand } from "../../framework/command.ts";
import { Failure } from "../../framework/failure.ts";
import { columns } from "../../framework/output.ts";
import { peerRow, peerRows, toolRows } from "../../rooms/peer-rows.ts";

const options = {
  ...roomOptions,
  tools: { type: "boolean", about: "also ask each participant for its tools; joins the room for a moment" },
} as const;

export const peers = defineCommand({
  usage: "ROOM [--tools]",
  words: { min: 1, max: 1, values: [["room"]] },
  options,
  examples: [
    ["mcpx peers demo", "ids, kinds and levels"],
    ["mcpx peers demo --tools", "and what each can do"],
  ],
  run,
});

/** Participants that only watch never answer. */
const answerMs = 5_000;

async function run(context: Context<typeof options>): Promise<number> {
  const { options, output } = context;
  const access = accessRoom(context, { level: options.tools ? "full" : "restricted" });
  if (!options.tools) {
    const participants = await listParticipants(await access.access.enter(), access.topic);
    if (options.json) output.json(participants);
    else if (participants.length === 0) output.note(`nobody is in ${access.topic}`);
    else for (const line of columns(peerRows(participants))) output.line(line);
    return 0;
  }
  const room = await enterRoom(access, { history: 0, signal: context.interrupted() });
  try {
    const found = await Promise.all(room.peers.map((peer) => withTools(room, peer as object as JsonObject)));
    if (options.json) output.json(found);
    else if (found.length === 0) output.note(`nobody is in ${room.topic}`);
    else for (const one of found) for (const line of peerLines(one)) output.line(line);
    return 0;
  } finally {
    await room.close();
  }
}

async function listParticipants(entrance: Entrance, topic: string): Promise<JsonObject[]> {
  const path = `/v0/topics/${encodeURIComponent(topic)}/participants`;
  try {
    const { participants } = await callGateway(entrance, "GET", path);
    return Array.isArray(participants) ? participants.filter(isObject) : [];
  } catch (error) {
    // A room begins with its first visitor.
    if (error instanceof Failure && error.reason === "not_found") return [];
    throw error;
  }
}

interface PeerTools extends JsonObject {
  tools?: Tool[];
  fault?: string;
}

async function withTools(room: Room, participant: JsonObject): Promise<PeerTools> {
  try {
    const tools = await room.peer(String(participant.id)).listTools({ timeoutMs: answerMs });
    return { ...participant, tools };
  } catch (error) {
    return { ...participant, fault: faultText(error) };
  }
}

/** Most have nothing to offer and say so, or are only looking on. */
function faultText(error: unknown): string {
  const { reason, message } = error as { reason?: unknown; message?: unknown };
  if (reason === "not_served") return "serves nothing";
  if (reason === "timeout") return "does not answer";
  return String(message);
}

function peerLines({ tools, fault, ...participant }: PeerTools): string[] {
  const rows = toolRows(tools ?? []);
  const below = tools === undefined ? [`  (${fault})`] : rows.length === 0 ? ["  (no tools)"] : columns(rows);
  return [...columns([peerRow(participant)]), ...below];
}
