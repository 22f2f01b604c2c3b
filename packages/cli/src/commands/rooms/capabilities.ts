// `mcpx capabilities [ROOM]`: who may call whose tools, in rooms whose calls the gateway checks.
import type { JsonObject } from "@mcpx/protocol";
import { type Context, defineCommand, gatewayOptions } from "../../framework/command.ts";
import { formatDuration } from "../../framework/duration.ts";
import { columns } from "../../framework/output.ts";
import { cut, visible } from "../../framework/visible.ts";
import { adminCall, objects } from "../../gates/gate-access.ts";

export const capabilities = defineCommand({
  usage: "[ROOM]",
  words: { min: 0, max: 1, values: [["room"]] },
  options: gatewayOptions,
  examples: [
    ["mcpx capabilities", 'of every room with "toolAccess": "enforce"'],
    ["mcpx capabilities kitchen", "of one room"],
    ["mcpx capabilities --json | jq -r '.capabilities[].id'", "their ids alone"],
  ],
  run,
});

async function run(context: Context<typeof gatewayOptions>): Promise<number> {
  const { options, output, words } = context;
  const [room] = words;
  const query = room === undefined ? "" : `?topic=${encodeURIComponent(room)}`;
  const answer = await adminCall(context)("GET", `/capabilities${query}`);
  if (options.json) {
    output.json(answer);
    return 0;
  }
  const seen = objects(answer.capabilities);
  if (seen.length === 0)
    output.note('there are no capabilities; only rooms with "toolAccess": "enforce" list them');
  for (const line of columns(seen.map((one) => capabilityRow(one, Date.now())))) output.line(line);
  return 0;
}

function capabilityRow(capability: JsonObject, now: number): string[] {
  const { id, topic, holder, issuer } = capability;
  return [
    ...[id, topic, holder, `of ${issuer}`].map((cell) => visible(String(cell))),
    visible(cut(toolsText(capability), 80)),
    boundsText(capability, now),
  ];
}

function toolsText({ tools, toolsLeftOut }: JsonObject): string {
  const names = Array.isArray(tools) ? tools.join(" ") : String(tools);
  return toolsLeftOut === undefined ? names : `${names} and ${toolsLeftOut} more`;
}

function boundsText({ maxUses, expiresAt }: JsonObject, now: number): string {
  const life = `for ${formatDuration(Date.parse(String(expiresAt)) - now)}`;
  if (maxUses === undefined) return life;
  return `${maxUses === 1 ? "once" : `${Number(maxUses)} times`}, ${life}`;
}
