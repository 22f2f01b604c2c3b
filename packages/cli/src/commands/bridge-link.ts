// `mcpx bridge link NAME PARTICIPANT`: a code for one person, once. Whoever writes it on the platform is that participant
// from then on, so it takes the data directory, and the code is told to that person alone.
import { isId, isReservedId } from "@mcpx/protocol";
import { type Context, dataOption, defineCommand } from "../framework/command.ts";
import { Failure, misuse } from "../framework/failure.ts";
import { configOption } from "./add.ts";

const options = {
  level: {
    type: "string",
    values: ["full", "restricted", "responder"],
    value: "LEVEL",
    about: "level in the bridge's rooms (default: as configured for the participant)",
  },
  ...configOption,
  ...dataOption,
} as const;

export const bridgeLink = defineCommand({
  usage: "NAME PARTICIPANT [--level LEVEL]",
  words: { min: 2, max: 2, values: [[], ["participant"]] },
  options,
  examples: [["mcpx bridge link team alice --level full", "alice then writes to the bridge: link CODE"]],
  run,
});

async function run(context: Context<typeof options>): Promise<number> {
  const { options, output, words } = context;
  const [name = "", participant = ""] = words;
  const { lookAtConfig } = await import("../config-edit/edit-config.ts");
  const { knownBridge } = await import("../bridges/known-bridge.ts");
  const { bridgePrefixes } = await import("../bridges/open-bridges.ts");
  const { withBridgeRecords } = await import("../bridges/bridge-records.ts");
  const { issueCode } = await import("@mcpx/bridges");
  const file = lookAtConfig(context);
  knownBridge(file.config, name, file.path);
  const isOwn = bridgePrefixes.some((prefix) => participant.toLowerCase().startsWith(prefix));
  if (!isId(participant) || isReservedId(participant) || isOwn) {
    throw misuse(`nobody can be linked to "${participant}"`, "name a participant, for example alice");
  }
  const { level } = options;
  const made = await withBridgeRecords(file.dataDir, async ({ store, audit, actor }) => {
    const code = await issueCode(store, { bridge: name, participant, level }, Date.now());
    if (code !== undefined) {
      audit.recordNow({
        action: "bridge.code",
        actor,
        subject: participant,
        detail: { bridge: name, level },
      });
    }
    return code;
  });
  if (made === undefined) throw new Failure("too many codes wait to be used", "try again in ten minutes");
  const { code, expiresAt } = made;
  if (options.json)
    output.json({ bridge: name, participant, code, expiresAt: new Date(expiresAt).toISOString() });
  else {
    output.line(code);
    output.note(
      `mcpx: ${participant} writes this to the bridge in private, within ten minutes: link ${code}`,
    );
  }
  return 0;
}
