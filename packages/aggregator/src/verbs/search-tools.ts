// Three tools instead of all, for profiles with `search`: find by words, describe one, call it. A call goes the same
// way as any other.
import { harmless, isMcpxError, isObject, type JsonObject, McpxError } from "@mcpx/protocol";
import type { Entry } from "../catalogue/catalogue.ts";
import { type Directory, directoryFor, shownName } from "../catalogue/directory.ts";
import { indexTools, rankTools } from "../catalogue/rank-tools.ts";
import { resolveName } from "../catalogue/resolve.ts";
import type { Caller, Exchange } from "../mcp/exchange.ts";
import type { TreeState } from "../servers/tree-state.ts";
import { callTool } from "./call-tool.ts";
import { mayList, render } from "./list.ts";

const limitDefault = 10;
const limitMax = 50;
const excerptCharsMax = 300;
/** The three tools never change, so clients may keep the list. */
const ttlMs = 3_600_000;

const nameSchema = { type: "string", minLength: 1, maxLength: 300 } as const;

const tools = [
  {
    name: "find_tools",
    title: "Find tools",
    description:
      "Finds the tools for a task. Describe the task in a few words; the best matches come first, each with its name, what it does and the names of its arguments (? marks those that may be left out).",
    inputSchema: {
      type: "object",
      properties: {
        query: { type: "string", minLength: 1, maxLength: 500, description: "The task, in a few words" },
        limit: { type: "integer", minimum: 1, maximum: limitMax, default: limitDefault },
      },
      required: ["query"],
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
    _meta: { "x-mcpax-capability": harmless },
  },
  {
    name: "describe_tool",
    title: "Describe a tool",
    description: "All that is known of one tool: its description and the schema of its arguments.",
    inputSchema: { type: "object", properties: { name: nameSchema }, required: ["name"] },
    annotations: { readOnlyHint: true, openWorldHint: false },
    _meta: { "x-mcpax-capability": harmless },
  },
  {
    name: "call_tool",
    title: "Call a tool",
    description: "Calls a tool by the name find_tools gave, with arguments as describe_tool says.",
    inputSchema: {
      type: "object",
      properties: { name: nameSchema, arguments: { type: "object", additionalProperties: true } },
      required: ["name"],
    },
    // `call_tool` is as dangerous as the tool that it calls.
    annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
  },
] as const satisfies JsonObject[];

const names: ReadonlySet<unknown> = new Set(tools.map(({ name }) => name));

export function listSearchTools(): JsonObject {
  return { resultType: "complete", tools: [...tools], ttlMs, cacheScope: "private" };
}

export function isSearchTool({ caller, params }: Exchange): boolean {
  return caller.profile?.search === true && names.has(params.name);
}

/** What the model did wrong is a result it can read; everything else goes as it does without search. */
export async function callSearchTool(state: TreeState, exchange: Exchange): Promise<JsonObject> {
  const args = isObject(exchange.params.arguments) ? exchange.params.arguments : {};
  try {
    if (exchange.params.name === "find_tools") return await find(state, exchange.caller, args);
    const name = textOf(args, "name");
    if (exchange.params.name === "describe_tool") return await describe(state, exchange.caller, name);
    return await call(state, exchange, name, args.arguments);
  } catch (error) {
    if (error instanceof Mistake) return said(error.message, true);
    const isUnknown = isMcpxError(error) && error.code === "unknown_tool";
    if (!isUnknown) throw error;
    return said(await unknownText(state, exchange.caller, String(args.name)), true);
  }
}

class Mistake extends Error {}

async function find(state: TreeState, caller: Caller, args: JsonObject): Promise<JsonObject> {
  const query = textOf(args, "query");
  const { limit = limitDefault } = args;
  if (!Number.isInteger(limit) || (limit as number) < 1)
    throw new Mistake("limit must be a whole number from 1");
  const directory = await directoryFor(state, "tools", caller);
  const found = search(state, directory, caller, query, Math.min(limit as number, limitMax));
  const shown = found.map((entry) => brief(directory, entry, caller));
  if (shown.length === 0)
    return { ...said(nothingText(state, directory, caller)), structuredContent: { tools: [] } };
  const lines = shown.map(({ name, description, arguments: names }) => {
    const about = description === "" ? "" : `: ${description}`;
    return `- ${name}(${(names as string[]).join(", ")})${about}`;
  });
  return { ...said(lines.join("\n")), structuredContent: { tools: shown } };
}

async function describe(state: TreeState, caller: Caller, name: string): Promise<JsonObject> {
  const entry = await resolveName(state, "tools", name, caller);
  if (!mayList(state, caller, "tools", entry)) throw new McpxError("unknown_tool");
  const tool = render(await directoryFor(state, "tools", caller), "tools", entry, caller);
  return { ...said(JSON.stringify(tool)), structuredContent: tool };
}

async function call(
  state: TreeState,
  exchange: Exchange,
  name: string,
  given: unknown = {},
): Promise<JsonObject> {
  if (!isObject(given)) throw new Mistake("arguments must be an object, as describe_tool says");
  const params = { ...exchange.params, name, arguments: given };
  // Headers were made from the arguments of call_tool; those of the tool are made anew.
  return await callTool(state, { ...exchange, params, paramHeaders: undefined });
}

/** Only what the caller could list is found. */
function search(
  state: TreeState,
  directory: Directory,
  caller: Caller,
  query: string,
  limit: number,
): Entry[] {
  const { entries } = directory;
  directory.toolIndex ??= indexTools(entries.map(textsOf));
  const isWanted = (tool: number) => mayList(state, caller, "tools", entries[tool] as Entry);
  return rankTools(directory.toolIndex, query, limit, isWanted).map(({ tool }) => entries[tool] as Entry);
}

function textsOf({ fullName, item }: Entry) {
  const { title, description, annotations } = item;
  const shown = isObject(annotations) ? annotations.title : undefined;
  return {
    name: fullName,
    title: [title, shown].find((text) => typeof text === "string") ?? "",
    description: typeof description === "string" ? description : "",
    argumentNames: Object.keys(propertiesOf(item)),
  };
}

function propertiesOf({ inputSchema }: JsonObject): JsonObject {
  return isObject(inputSchema) && isObject(inputSchema.properties) ? inputSchema.properties : {};
}

function brief(directory: Directory, entry: Entry, caller: Caller): JsonObject {
  const { title, description } = textsOf(entry);
  const { inputSchema } = entry.item;
  const required = isObject(inputSchema) && Array.isArray(inputSchema.required) ? inputSchema.required : [];
  const all = Object.keys(propertiesOf(entry.item));
  return {
    name: shownName(directory, entry, caller),
    ...(title !== "" && { title }),
    description: excerpt(description),
    arguments: all.map((name) => (required.includes(name) ? name : `${name}?`)),
  };
}

function excerpt(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= excerptCharsMax ? line : `${line.slice(0, excerptCharsMax - 1)}…`;
}

function nothingText(state: TreeState, { entries }: Directory, caller: Caller): string {
  const count = entries.filter((entry) => mayList(state, caller, "tools", entry)).length;
  if (count === 0) return "There are no tools here.";
  return `None of the ${count} tools here has any of these words. Try others: a verb and a thing, such as "read file".`;
}

async function unknownText(state: TreeState, caller: Caller, name: string): Promise<string> {
  const directory = await directoryFor(state, "tools", caller);
  const near = search(state, directory, caller, name, 3).map((entry) => shownName(directory, entry, caller));
  const advice = near.length === 0 ? "Look for it with find_tools." : `Did you mean ${near.join(" or ")}?`;
  return `There is no tool ${JSON.stringify(name.slice(0, 300))}. ${advice}`;
}

function textOf(args: JsonObject, key: string): string {
  const value = args[key];
  if (typeof value !== "string" || value.trim() === "")
    throw new Mistake(`${key} must be a string that is not empty`);
  return value;
}

function said(text: string, isError = false): JsonObject {
  return {
    resultType: "complete",
    content: [{ type: "text", text }],
    ...(isError && { isError }),
  };
}
