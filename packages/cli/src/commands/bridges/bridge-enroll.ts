// `mcpx bridge enroll NAME`: presses of the approvers who are linked there count as approvals of calls that can be
// undone. It makes gates weaker, so an approver signs it. [B-BRIDGE-2]
import { sentencesOf } from "@mcpx/aggregator";
import { hasGateway } from "../../access/gateway-access.ts";
import { type Context, configOption, dataOption, defineCommand } from "../../framework/command.ts";
import { Failure } from "../../framework/failure.ts";
import { visible } from "../../framework/visible.ts";
import { adminCall } from "../../gates/gate-access.ts";
import { noteChain } from "../../gates/note-chain.ts";
import { type Settled, settleOrSign, signChangeOptions } from "../../gates/sign-change.ts";

const options = {
  end: { type: "boolean", about: "presses of buttons at this bridge no longer approve calls" },
  ...configOption,
  ...dataOption,
  ...signChangeOptions,
} as const;

export const bridgeEnroll = defineCommand({
  usage: "NAME [--end] [--by FILE] [--yes]",
  words: { min: 1, max: 1 },
  options,
  examples: [
    ["mcpx bridge enroll team", "approvers who are linked there approve by a button what can be undone"],
    ["mcpx bridge enroll team --end", "from now on they open the page and sign"],
  ],
  run,
});

async function run(context: Context<typeof options>): Promise<number> {
  const { options, output, program, words } = context;
  const [name = ""] = words;
  const { lookAtConfig } = await import("../../config-edit/edit-config.ts");
  const { knownBridge } = await import("../../bridges/known-bridge.ts");
  const { withBridgeRecords } = await import("../../bridges/bridge-records.ts");
  const { pressChanges } = await import("../../bridges/press-authority.ts");
  const { withChain } = await import("../../access/authority.ts");
  const { reachOfBridge } = await import("../../settings/bridge-settings.ts");
  const file = lookAtConfig(context);
  const entry = knownBridge(file.config, name, file.path);
  const bridge = { name, kind: entry.platform, reach: reachOfBridge(entry) };
  const { what, settled } = await withBridgeRecords({ ...context, ...file }, ({ store, identity }) =>
    withChain({ ...context, ...file }, {}, async (chain) => {
      const links = options.end ? [] : await store.links(name);
      const { state } = chain.chain.now();
      const changes = pressChanges(state, identity, bridge, links);
      const what = sentencesOf(state, changes);
      const settled: Settled = changes.length === 0 ? "done" : await settleOrSign(context, chain, changes);
      return { what, settled };
    }),
  );
  await noteChain(context);
  if (what.length === 0 && !options.end) {
    const fix = `an approver is linked with ${program} bridge link ${name} NAME; see ${program} key list`;
    throw new Failure(
      `no approver is linked at ${name}, or the button presses of all of them approve calls already`,
      fix,
    );
  }
  // The gateway that runs shows it as a card, for an approver to sign; or takes back the card that waits.
  if (settled === "waits" || options.end) await tellGateway(context, name);
  if (options.json) output.json({ bridge: name, what, ...(settled === "waits" && { waits: true }) });
  else {
    for (const sentence of what) output.line(visible(sentence));
    if (settled === "waits")
      output.note(`mcpx: the change waits for the signature of an approver: ${program} pending shows it`);
  }
  return 0;
}

async function tellGateway(context: Context<typeof options>, name: string): Promise<void> {
  const local = { ...context, options: { ...context.options, url: undefined, token: undefined } };
  const { end } = context.options;
  if (hasGateway(local)) {
    await adminCall(local)(end ? "DELETE" : "POST", `/bridges/${encodeURIComponent(name)}/presses`);
  } else if (!end) {
    const fix = `sign it here with --by FILE, or start ${context.program} up and type this again`;
    throw new Failure("nothing has changed: an approver has to sign it, and no gateway runs to ask one", fix);
  }
}
