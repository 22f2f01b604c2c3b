// Entering a room from the command line: under which id, with which right.
import { randomBytes } from "node:crypto";
import { checkParticipantId, checkTopic } from "./check-names.ts";
import { type Context, gatewayOptions, type OptionSpecs } from "./command.ts";
import { misuse } from "./failure.ts";
import { accessGateway, type GatewayAccess } from "./gateway-access.ts";
import { localUser } from "./local-store.ts";

export const roomOptions = {
  ...gatewayOptions,
  id: { type: "string", value: "ID", about: "participant id (default: cli-USER-xxxx)" },
} as const satisfies OptionSpecs;

/** The topic, checked, and access with a token that allows to watch and chat there, and nothing more. */
export function accessRoom(context: Context<typeof roomOptions>): { topic: string; access: GatewayAccess } {
  const { options, words } = context;
  const topic = words[0] ?? "";
  checkTopic(topic);
  const { id = `cli-${localUser()}-${randomBytes(2).toString("hex")}` } = options;
  checkParticipantId(id);
  const access = accessGateway(context, { sub: id, topics: [topic], kind: "human", level: "restricted" });
  if (options.id !== undefined && !access.mintsTokens) {
    throw misuse("--id does not go with a given token", "leave it out: the token says who you are");
  }
  return { topic, access };
}
