// `mcpx rules`: the rules of the gates in their order, each with the tools it decides about, and what the rest gets.
import { isObject, type JsonObject } from "@mcpx/protocol";
import { type Context, defineCommand, gatewayOptions } from "../../framework/command.ts";
import { columns, type Output } from "../../framework/output.ts";
import { cut, visible } from "../../framework/visible.ts";
import { adminCall, objects } from "../../gates/gate-access.ts";

export const rules = defineCommand({
  usage: "",
  words: { min: 0, max: 0 },
  options: gatewayOptions,
  examples: [
    ["mcpx rules", "in the order they are tried"],
    ['mcpx rules test files.delete \'{"path": "/tmp/x"}\'', "what the rules would do with that call"],
  ],
  run,
});

const noRules = "There are no rules; the annotations of the tools decide:";
const noneFits = "Where no rule matches, the annotations of the tools decide:";
const trustHint = "Annotations count where their server was added with --trusted.";
const namesShown = 8;
const restShown = 40;

async function run(context: Context<typeof gatewayOptions>): Promise<number> {
  const { options, output } = context;
  const answer = await adminCall(context)("GET", "/rules");
  if (options.json) output.json(answer);
  else for (const line of ruleLines(answer, output)) output.line(context.hint(line));
  return 0;
}

function ruleLines(answer: JsonObject, { paint }: Output): string[] {
  const given = objects(answer.rules);
  const rest = objects(answer.rest);
  const heads = columns(given.map((rule) => [String(rule.number), String(rule.action), ruleText(rule)]));
  return [
    ...(answer.panic === true
      ? [paint("red", "panic is on: every call waits for an approval, until mcpx panic off"), ""]
      : []),
    ...(given.length === 0 ? [] : [paint("dim", "The first rule that matches decides:")]),
    ...given.flatMap((rule, index) => [`  ${heads[index]}`, paint("dim", `     ${matchText(rule)}`)]),
    ...(given.length === 0 ? [] : [""]),
    paint("dim", given.length === 0 ? noRules : noneFits),
    ...columns(rest.slice(0, restShown).map(restRow)).map((line) => `  ${line}`),
    ...(rest.length > restShown ? [`  … and ${rest.length - restShown} more: --json shows them`] : []),
    ...(rest.length === 0 ? ["  every tool is covered by a rule above"] : []),
    ...(rest.some(({ why }) => why === "unannotated") ? [paint("dim", trustHint)] : []),
  ];
}

function ruleText({ tools, where, approvers, holdResult }: JsonObject): string {
  const conditions = isObject(where) ? Object.entries(where) : [];
  const said = conditions.map(([path, value]) => `${path} is ${JSON.stringify(value)}`).join(" and ");
  const many = typeof approvers === "number" && approvers > 1 ? `, ${approvers} approvers` : "";
  const held = holdResult === true ? ", result held" : "";
  return visible(`${tools}${said === "" ? "" : ` where ${said}`}${many}${held}`);
}

function matchText({ matches }: JsonObject): string {
  const names = Array.isArray(matches) ? matches.map(String) : [];
  if (names.length === 0) return "no tool now";
  const shown = names.slice(0, namesShown).map((name) => visible(cut(name, 60)));
  const more = names.length - shown.length;
  return shown.join(" ") + (more > 0 ? ` and ${more} more` : "");
}

function restRow({ tool, action, why }: JsonObject): string[] {
  return [String(action), visible(cut(String(tool), 60)), whyText(String(why))];
}

export function whyText(why: string): string {
  if (why === "irreversible") return "cannot be undone";
  if (why === "reversible") return "can be undone, or only reads";
  if (why === "unannotated") return "has no trusted annotation of its danger";
  if (why === "panic") return "panic is on";
  return visible(why);
}
