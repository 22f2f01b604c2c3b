// Uses all a server offers: lists, calls, reads, gets; and goes on with what comes back as a question.
import { isMcpxError, isObject, type JsonObject } from "@mcpx/protocol";
import type { Link } from "../../../packages/aggregator/src/links/link.ts";
import { paramHeaderFault, paramHeaders } from "../../../packages/aggregator/src/links/param-headers.ts";
import type { Question } from "../../../packages/aggregator/src/mcp/exchange.ts";
import { RpcError } from "../../../packages/aggregator/src/mcp/rpc-error.ts";
import { answerQuestion } from "./answer-question.ts";
import { valueFor } from "./value-for.ts";

const roundsMax = 5;
const pagesMax = 10;

/** `calls` are those to make instead of our own. */
export async function useServer(link: Link, calls: readonly JsonObject[]): Promise<void> {
  const { capabilities } = link.facts;
  if (capabilities.tools) await useTools(link, calls);
  if (capabilities.resources) {
    for (const { uri } of await list(link, "resources")) await ask(link, "resources/read", { uri });
  }
  if (capabilities.prompts) {
    for (const { name } of await list(link, "prompts")) await ask(link, "prompts/get", { name });
  }
}

async function useTools(link: Link, calls: readonly JsonObject[]): Promise<void> {
  const offered = await list(link, "tools");
  const isModern = link.facts.era === "modern";
  const tools = offered.filter(({ inputSchema }) => !isModern || paramHeaderFault(inputSchema) === undefined);
  const own = tools.map(({ name, inputSchema }) => ({ name, arguments: argumentsFor(inputSchema, tools) }));
  for (const { name, arguments: args } of calls.length > 0 ? calls : own) {
    const tool = tools.find((candidate) => candidate.name === name);
    if (!tool) continue;
    const headers = isModern ? paramHeaders(tool.inputSchema, args) : undefined;
    await ask(link, "tools/call", { name, arguments: args }, headers);
  }
}

/** A tool that wants a schema gets the first tool's, as it came. */
function argumentsFor(inputSchema: unknown, [first]: readonly JsonObject[]): unknown {
  if (!isObject(inputSchema)) return {};
  const value = valueFor(inputSchema);
  return isObject(value) && "schema" in value ? { ...value, schema: first?.inputSchema } : value;
}

async function list(link: Link, what: "tools" | "resources" | "prompts"): Promise<JsonObject[]> {
  const found: JsonObject[] = [];
  let cursor: unknown;
  for (let page = 0; page < pagesMax; page += 1) {
    const result = await ask(link, `${what}/list`, cursor === undefined ? {} : { cursor });
    const items = result[what];
    found.push(...(Array.isArray(items) ? items.filter(isObject) : []));
    cursor = result.nextCursor;
    if (cursor === undefined) break;
  }
  return found;
}

/** The result in the end. A server's own errors are its affair; refusals to let us in are ours. */
async function ask(
  link: Link,
  method: string,
  params: JsonObject,
  headers?: Readonly<Record<string, string>>,
): Promise<JsonObject> {
  let sent = params;
  try {
    for (let round = 0; round < roundsMax; round += 1) {
      const result = await request(link, method, sent, headers);
      if (result.resultType !== "input_required") return result;
      const { inputRequests, requestState } = result;
      sent = {
        ...params,
        inputResponses: answersTo(isObject(inputRequests) ? inputRequests : {}),
        ...(requestState !== undefined && { requestState }),
      };
    }
  } catch (error) {
    if (!(error instanceof RpcError) || isMcpxError(error)) throw error;
  }
  return {};
}

function request(
  link: Link,
  method: string,
  params: JsonObject,
  headers: Readonly<Record<string, string>> | undefined,
): Promise<JsonObject> {
  return link.request({
    method,
    params,
    capabilities: { elicitation: { form: {} } },
    info: { name: "mcpx", version: "0.1.0" },
    logLevel: undefined,
    wantsProgress: false,
    paramHeaders: headers,
    signal: AbortSignal.timeout(20_000),
    notify: () => {},
    ask: async (questions) => answersTo(questions as unknown as JsonObject),
  });
}

function answersTo(questions: JsonObject): Record<string, JsonObject> {
  return Object.fromEntries(
    Object.entries(questions).map(([key, question]) => [key, answerQuestion(question as Question)]),
  );
}
