// `mcpx bridge link NAME PARTICIPANT`: a code for one person, once. The person who writes it on the platform is that
// participant from then on, so it takes the data directory, and the code is told to that person alone.
import { type Context, configOption, dataOption, defineCommand } from "../../framework/command.ts";
import { Failure, misuse } from "../../framework/failure.ts";

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
  const { lookAtConfig } = await import("../../config-edit/edit-config.ts");
  const { knownBridge } = await import("../../bridges/known-bridge.ts");
  const { isLinkable, makeCode } = await import("../../bridges/make-code.ts");
  const { withBridgeRecords } = await import("../../bridges/bridge-records.ts");
  const file = lookAtConfig(context);
  knownBridge(file.config, name, file.path);
  if (!isLinkable(participant)) {
    throw misuse(`nobody can be linked to "${participant}"`, "name a participant, for example alice");
  }
  const { level } = options;
  const made = await withBridgeRecords({ ...context, ...file }, (records) =>
    makeCode(records, { bridge: name, participant, level }, Date.now()),
  );
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
