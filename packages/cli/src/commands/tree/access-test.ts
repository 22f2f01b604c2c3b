// `mcpx access test --claims FILE`: what somebody could do of whom an OpenID provider says this. Nobody is logged in.
import { readFileSync } from "node:fs";
import { isObject, type JsonObject } from "@mcpx/protocol";
import { type Context, defineCommand, gatewayOptions } from "../../framework/command.ts";
import { Failure, misuse } from "../../framework/failure.ts";
import { readJsonObject } from "../../framework/read-json-object.ts";
import { visible } from "../../framework/visible.ts";
import { adminCall } from "../../gates/gate-access.ts";

const options = {
  ...gatewayOptions,
  claims: { type: "string", value: "FILE", about: "a JSON object with claims, as an ID token has them" },
  login: { type: "string", value: "NAME", about: "which of the configured logins (default: the only one)" },
} as const;

export const accessTest = defineCommand({
  usage: "--claims FILE [--login NAME]",
  words: { min: 0, max: 0 },
  options,
  examples: [["mcpx access test --claims alice.json", "by the rules under logins.NAME.rights"]],
  run,
});

async function run(context: Context<typeof options>): Promise<number> {
  const { options, output } = context;
  if (options.claims === undefined) throw misuse("--claims is missing", "give a file with a JSON object");
  const claims = readJsonObject(textOf(options.claims), options.claims);
  const call = adminCall(context);
  const login = options.login ?? onlyOf(await call("GET", "/logins"));
  const answer = await call("POST", "/logins/test", { login, claims });
  if (options.json) output.json(answer);
  else for (const line of verdictLines(answer)) output.line(line);
  return 0;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new Failure(
      `${file} cannot be read (${(error as NodeJS.ErrnoException).code})`,
      "give the path of a JSON file",
    );
  }
}

function onlyOf({ logins }: JsonObject): string {
  const names = Array.isArray(logins) ? logins.map(String) : [];
  const [first] = names;
  if (first !== undefined && names.length === 1) return first;
  if (first === undefined)
    throw new Failure("no login is configured", "see logins.NAME in mcpx config keys logins");
  throw misuse(`there are several logins: ${names.join(", ")}`, "choose one with --login NAME");
}

function verdictLines({ login, rights, rules }: JsonObject): string[] {
  const fitting = Array.isArray(rules)
    ? rules.map((index) => `logins.${String(login)}.rights[${String(index)}]`)
    : [];
  if (!isObject(rights)) return ["nothing: no rule fits"];
  const words = (value: unknown) => (Array.isArray(value) && value.length > 0 ? value.join(" ") : "none");
  return [
    rights.admin === true
      ? "admin: may log in at the console"
      : "not an admin: may not log in at the console",
    `tools: ${words(rights.tools)}`,
    `rooms: ${words(rights.topics)} (${String(rights.level)})`,
    `because of: ${fitting.join(", ")}`,
  ].map(visible);
}
