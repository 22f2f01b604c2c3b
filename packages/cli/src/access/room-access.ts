// Entering a room from the command line: under which id, with which right.
import { randomBytes } from "node:crypto";
import type { JoinOptions, Room } from "@mcpx/client";
import type { ParticipantKind } from "@mcpx/host";
import type { Level } from "@mcpx/protocol";
import { checkParticipantId, checkTopic } from "../config/check-names.ts";
import { localUser } from "../files/local-store.ts";
import { type Context, gatewayOptions, type OptionSpecs } from "../framework/command.ts";
import { misuse } from "../framework/failure.ts";
import { version } from "../framework/version.ts";
import { accessGateway, callGateway, type Entrance, type GatewayAccess } from "./gateway-access.ts";
import { roomFailure } from "./room-end.ts";

export const roomOptions = {
  ...gatewayOptions,
  id: { type: "string", value: "ID", about: "participant id (default: cli-USER-xxxx)" },
} as const satisfies OptionSpecs;

export interface RoomAccess {
  topic: string;
  access: GatewayAccess;
}

export interface RoomRight {
  /** Restricted: watch, chat and propose. */
  level?: Level;
  kind?: ParticipantKind;
  /** Globs: what it may use of a tree in the room. */
  tools?: readonly string[];
  /** What the user calls the gateway's address. */
  urlOption?: string;
}

/** The topic, checked, and access with a token that allows there what the command needs, and nothing more. */
export function accessRoom(
  context: Context<typeof roomOptions>,
  { level = "restricted", kind = "human", tools = [], urlOption }: RoomRight = {},
): RoomAccess {
  const { options, words } = context;
  const topic = words[0] ?? "";
  checkTopic(topic);
  const { id = `cli-${localUser()}-${randomBytes(2).toString("hex")}` } = options;
  checkParticipantId(id);
  const claims = { sub: id, topics: [topic], kind, level, ...(tools.length > 0 && { tools }) };
  const access = accessGateway(context, claims, urlOption);
  if (options.id !== undefined && !access.mintsTokens) {
    throw misuse("--id cannot be combined with --token", "leave it out: the token says who you are");
  }
  return { topic, access };
}

/** Says at once what is wrong with an address, a token or a room, where the client would try for a while. */
export async function checkEndpoint(entrance: Entrance, topic: string): Promise<void> {
  await callGateway(entrance, "POST", "/v0/tickets", { topic });
}

/** Joins with the client, which from then on keeps itself in the room. */
export async function enterRoom(
  { topic, access }: RoomAccess,
  options: Pick<JoinOptions, "history" | "signal" | "callTimeoutMs" | "sign"> = {},
): Promise<Room> {
  const entrance = await access.enter();
  await checkEndpoint(entrance, topic);
  const { url, token } = entrance;
  let first: string | undefined = token;
  const tokenProvider = async () => {
    const next = first ?? (await access.enter()).token;
    first = undefined;
    return next;
  };
  // Only now: commands that join nothing should not wait for it.
  const { joinRoom } = await import("@mcpx/client");
  try {
    return await joinRoom({
      url,
      topic,
      ...(access.mintsTokens ? { tokenProvider } : { token }),
      clientInfo: { name: "mcpx", version },
      ...options,
    });
  } catch (error) {
    throw roomFailure(error);
  }
}
