// `mcpx bridge unlink NAME WHO`: a participant's links, or one person's on the platform; what is open with them ends.
import { type Context, configOption, dataOption, defineCommand } from "../../framework/command.ts";
import { Failure } from "../../framework/failure.ts";
import { visible } from "../../framework/visible.ts";

const options = { ...configOption, ...dataOption } as const;

export const bridgeUnlink = defineCommand({
  usage: "NAME PARTICIPANT | NAME USER",
  words: { min: 2, max: 2, values: [[], ["participant"]] },
  options,
  examples: [["mcpx bridge unlink team alice", "alice can only read from then on"]],
  run,
});

async function run(context: Context<typeof options>): Promise<number> {
  const { options, output, words } = context;
  const [name = "", who = ""] = words;
  const { lookAtConfig } = await import("../../config-edit/edit-config.ts");
  const { knownBridge } = await import("../../bridges/known-bridge.ts");
  const { endLink, withBridgeRecords } = await import("../../bridges/bridge-records.ts");
  const file = lookAtConfig(context);
  knownBridge(file.config, name, file.path);
  const ended = await withBridgeRecords({ ...context, ...file }, async (records) => {
    const links = (await records.store.links(name)).filter(
      ({ user, participant }) => user === who || participant === who,
    );
    for (const link of links) await endLink(records, link);
    return links;
  });
  if (ended.length === 0) throw new Failure(`${who} is not linked at ${name}`, "see mcpx bridge list");
  if (options.json)
    output.json({ bridge: name, unlinked: ended.map(({ user, participant }) => ({ user, participant })) });
  else
    for (const { user, participant } of ended)
      output.line(`unlinked ${visible(user)}, who was ${visible(participant)}`);
  return 0;
}
