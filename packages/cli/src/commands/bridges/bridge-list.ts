// `mcpx bridge list`: the bridges of the gateway that runs, how they are, and who is linked.
import type { JsonObject } from "@mcpx/protocol";
import { type Context, defineCommand, gatewayOptions } from "../../framework/command.ts";
import type { Output } from "../../framework/output.ts";
import { visible } from "../../framework/visible.ts";
import { adminCall, objects } from "../../gates/gate-access.ts";

export const bridgeList = defineCommand({
  usage: "",
  words: { min: 0, max: 0 },
  options: gatewayOptions,
  examples: [["mcpx bridge list", "state, channels and links of each"]],
  run,
});

async function run(context: Context<typeof gatewayOptions>): Promise<number> {
  const { options, output, program } = context;
  const answer = await adminCall(context)("GET", "/bridges");
  if (options.json) {
    output.json(answer);
    return 0;
  }
  const found = objects(answer.bridges);
  if (found.length === 0)
    output.note(`there are no bridges; ${program} bridge add --help shows how to add one`);
  for (const bridge of found) show(bridge, output);
  return 0;
}

function show({ name, platform, state, fault, channels, links }: JsonObject, output: Output): void {
  const style = state === "up" ? "green" : "yellow";
  const why = typeof fault === "string" ? `: ${fault}` : "";
  output.line(
    `${visible(String(name))}  ${visible(String(platform))}  ${output.paint(style, visible(`${state}${why}`))}`,
  );
  for (const { channel, room, behind, fault: wrong } of objects(channels)) {
    const late = Number(behind) > 0 ? `, ${behind} behind` : "";
    const trouble = typeof wrong === "string" ? `: ${wrong}` : "";
    output.line(`  ${visible(`${room} → ${channel}${late}${trouble}`)}`);
  }
  for (const { user, participant, level, presses } of objects(links)) {
    const how = typeof level === "string" ? `, ${level}` : "";
    const sign = presses === true ? ", presses approve" : "";
    output.line(`  ${visible(`${user} is ${participant}${how}${sign}`)}`);
  }
}
