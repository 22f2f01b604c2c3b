// `mcpx rules test TOOL JSON`: what the rules would do with a call. Nothing is called.
import { type JsonObject, parseExact } from "@mcpx/protocol";
import { type Context, defineCommand, gatewayOptions } from "../../framework/command.ts";
import { readJsonObject } from "../../framework/read-json-object.ts";
import { visible } from "../../framework/visible.ts";
import { adminCall } from "../../gates/gate-access.ts";
import { whyText } from "./rules.ts";

export const rulesTest = defineCommand({
  usage: "TOOL [JSON]",
  words: { min: 1, max: 2, values: [["tool"], []] },
  options: gatewayOptions,
  examples: [
    ["mcpx rules test files.delete", "without arguments"],
    [`mcpx rules test files.delete '{"path": "/tmp/x"}'`, "with these"],
    ["mcpx rules test files.delete --json | jq -r .action", "allow, ask, always_ask or deny"],
  ],
  run,
});

const meanings: Readonly<Record<string, string>> = {
  allow: "the call is made without an approval",
  ask: "the call waits for an approval, unless a grant allows it",
  always_ask: "the call waits for an approval, and no grant allows it",
  deny: "the call is denied",
};

async function run(context: Context<typeof gatewayOptions>): Promise<number> {
  const { options, output, words } = context;
  const [tool = "", given = "{}"] = words;
  readJsonObject(given, "JSON");
  const wish = { tool, arguments: parseExact(given) };
  const answer = await adminCall(context)("POST", "/rules/test", wish);
  if (options.json) output.json(answer);
  else for (const line of verdictLines(answer)) output.line(line);
  return 0;
}

function verdictLines({ action, why, approvers, tool, isKnown, holdResult }: JsonObject): string[] {
  const many = Number(approvers) > 1 ? `; ${approvers} must approve` : "";
  const isAsked = action === "ask" || action === "always_ask";
  return [
    `${String(action)}: ${meanings[String(action)] ?? ""}${isAsked ? many : ""}`,
    `because: ${whyText(String(why))}`,
    ...(holdResult === true ? ["its result is held until an approver has released it"] : []),
    ...(isKnown === false ? [`${visible(String(tool))} is not there now; only its name was judged`] : []),
  ];
}
