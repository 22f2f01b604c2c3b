// Schemas that a client refuses, or that cost its model more than they are worth: one bad schema may cost a client all
// its tools.
import { isObject, type JsonObject } from "@mcpx/protocol";
import { type Check, type Finding, some, warning } from "./finding.ts";

const about = "schemas";
/** Of one tool as it is listed: about as many tokens as a model reads in a page of text, four times over. */
const listedCharsMax = 8_000;
/** Nobody's real schema is deeper. */
const depthMax = 64;

export const toolSchemas: Check = {
  name: about,
  async run({ survey }) {
    return judgeSchemas((await survey()).flatMap(({ tools }) => tools));
  },
};

export function judgeSchemas(tools: readonly { name: string; item: JsonObject }[]): Finding[] {
  const namesOf = (isBad: (item: JsonObject) => boolean) =>
    tools.filter(({ item }) => isBad(item)).map(({ name }) => name);
  const referring = namesOf(({ inputSchema }) => refers(inputSchema));
  const united = namesOf(({ inputSchema }) => isUnion(inputSchema));
  const large = namesOf((item) => JSON.stringify(item).length > listedCharsMax);
  return [
    ...found(
      referring,
      "Gemini CLI refuses input schemas with $ref or $defs",
      "connect Gemini CLI with a profile without them, or mcpx tools disable NAME",
    ),
    ...found(
      united,
      "OpenAI and Anthropic models refuse input schemas with anyOf, oneOf or allOf at the root",
      "mcpx tools disable NAME, until its server has an object at the root",
    ),
    ...found(
      large,
      `tools take more than ${listedCharsMax} characters of a model's attention each`,
      'mcpx tools describe NAME TEXT, or a profile with "search": true',
    ),
  ];
}

function found(names: readonly string[], text: string, fix: string): Finding[] {
  return names.length === 0 ? [] : [warning(about, `${text}: ${some(names, 3)}`, fix)];
}

function isUnion(schema: unknown): boolean {
  return isObject(schema) && ["anyOf", "oneOf", "allOf"].some((key) => Array.isArray(schema[key]));
}

function refers(schema: unknown, depth = 0): boolean {
  if (depth > depthMax) return false;
  if (Array.isArray(schema)) return schema.some((one) => refers(one, depth + 1));
  if (!isObject(schema)) return false;
  if (typeof schema.$ref === "string" || isObject(schema.$defs)) return true;
  return Object.values(schema).some((one) => refers(one, depth + 1));
}
