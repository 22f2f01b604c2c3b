// `mcpx grants`: what was allowed beforehand, to whom and until when.
import type { JsonObject } from "@mcpx/protocol";
import { type Context, defineCommand, gatewayOptions } from "../../framework/command.ts";
import { formatDuration } from "../../framework/duration.ts";
import { misuse } from "../../framework/failure.ts";
import { columns } from "../../framework/output.ts";
import { cut, visible } from "../../framework/visible.ts";
import { adminCall, objects } from "../../gates/gate-access.ts";

export const grants = defineCommand({
  usage: "[list]",
  words: { min: 0, max: 1, values: [[["list"]]] },
  options: gatewayOptions,
  examples: [
    ["mcpx grants", "whose, for which tools, until when"],
    ["mcpx grants --json | jq -r '.grants[].id'", "their ids alone"],
  ],
  run,
});

async function run(context: Context<typeof gatewayOptions>): Promise<number> {
  const { options, output, program } = context;
  const [word = "list"] = context.words;
  if (word !== "list") throw misuse(`grants does not take ${word}`, "see mcpx grants --help");
  const answer = await adminCall(context)("GET", "/grants");
  if (options.json) {
    output.json(answer);
    return 0;
  }
  const given = objects(answer.grants);
  if (given.length === 0) output.note(`there are no grants; ${program} grants add --help shows how`);
  for (const line of columns(given.map(grantRow))) output.line(line);
  return 0;
}

export function grantRow(grant: JsonObject): string[] {
  const { id, principal, tools, reason } = grant;
  return [
    ...[id, principal, tools].map((cell) => visible(String(cell))),
    boundsText(grant),
    visible(cut(String(reason ?? ""), 60)),
  ];
}

function boundsText({ usesLeft, leftMs, session, argumentsDigest }: JsonObject): string {
  return [
    ...(usesLeft === undefined ? [] : [usesLeft === 1 ? "once" : `${usesLeft} times`]),
    ...(leftMs === undefined ? [] : [`for ${formatDuration(Number(leftMs))}`]),
    ...(session === undefined ? [] : ["this session"]),
    ...(argumentsDigest === undefined ? [] : ["these arguments"]),
  ].join(", ");
}
