// `mcpx consents`: which programs were allowed through the browser, with what they may do and until when.
import type { JsonObject } from "@mcpx/protocol";
import { type Context, defineCommand, gatewayOptions } from "../../framework/command.ts";
import { formatDuration } from "../../framework/duration.ts";
import { columns } from "../../framework/output.ts";
import { cut, visible } from "../../framework/visible.ts";
import { adminCall, objects } from "../../gates/gate-access.ts";

export const consents = defineCommand({
  usage: "",
  words: { min: 0, max: 0 },
  options: gatewayOptions,
  examples: [
    ["mcpx consents", "the newest first"],
    ["mcpx consents --json | jq -r '.consents[].id'", "their ids alone"],
  ],
  run,
});

async function run(context: Context<typeof gatewayOptions>): Promise<number> {
  const { options, output } = context;
  const answer = await adminCall(context)("GET", "/consents");
  if (options.json) {
    output.json(answer);
    return 0;
  }
  const listed = objects(answer.consents);
  if (listed.length === 0) output.note("no program was allowed through the browser");
  const rows = listed.map((one) => consentRow(one, Date.now()));
  if (rows.length > 0) for (const line of columns([head, ...rows])) output.line(line);
  return 0;
}

const head = ["ID", "PROGRAM", "KNOWN AS", "TOOLS", "ROOMS", "ENDS", "LAST TOKEN"];

function consentRow(consent: JsonObject, now: number): string[] {
  const { id, clientName, participant, tools, topics, level, expiresAt, usedAt } = consent;
  const rooms = wordsOf(topics);
  const ago = (at: unknown) => formatDuration(Math.max(0, now - Date.parse(String(at))));
  return [
    id,
    cut(String(clientName), 40),
    participant,
    cut(wordsOf(tools) || "none", 60),
    rooms === "" ? "none" : `${cut(rooms, 40)} (${level})`,
    `in ${formatDuration(Date.parse(String(expiresAt)) - now)}`,
    usedAt === null ? "never" : `${ago(usedAt)} ago`,
  ].map((cell) => visible(String(cell)));
}

function wordsOf(value: unknown): string {
  return Array.isArray(value) ? value.join(" ") : "";
}
