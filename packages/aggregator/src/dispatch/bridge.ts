// What one era says and the other does not know. Four cases meet here: questions of modern servers for legacy clients,
// a legacy server's wish that its caller first visits an address, the two numbers for a resource nobody has, and the
// parameters of a retry. Pure but for asking and sending. Each change is listed in spec/PROTOCOL.md. [AX-7.2-3]
import { isObject, type JsonObject, McpxError } from "@mcpx/protocol";
import type { Era } from "../mcp/era.ts";
import type { Answers, Exchange, Question } from "../mcp/exchange.ts";
import { RpcError, rpcCodes, rpcError } from "../mcp/rpc-error.ts";

const roundsMax = 32;

/** A retry's fields mean nothing to a legacy server, and a state that reaches one was never ours. */
export function paramsFor(era: Era, params: JsonObject): JsonObject {
  if (era === "modern" || (params.requestState === undefined && params.inputResponses === undefined)) {
    return params;
  }
  if (params.requestState !== undefined) throw new McpxError("state_unknown");
  const { inputResponses: _, ...rest } = params;
  return rest;
}

interface Round {
  first: JsonObject;
  params: JsonObject;
  ask: Exchange["ask"];
  send(params: JsonObject): Promise<JsonObject>;
  server: string;
}

/** Asks a legacy client what a modern server wants to know, and sends the call again with the answers. */
export async function answerQuestions({ first, params, ask, send, server }: Round): Promise<JsonObject> {
  let result = first;
  for (let round = 0; result.resultType === "input_required"; round += 1) {
    if (round === roundsMax)
      throw new McpxError(
        "bad_server_answer",
        `${server} asked for more input ${roundsMax} times in one call`,
      );
    const { inputRequests, requestState } = result;
    const questions = readQuestions(inputRequests, server);
    const answers: Answers = Object.keys(questions).length === 0 ? {} : await ask(questions);
    result = await send({
      ...params,
      inputResponses: answers,
      ...(requestState !== undefined && { requestState }),
    });
  }
  return result;
}

function readQuestions(value: unknown, server: string): Record<string, Question> {
  if (value === undefined) return {};
  if (!isObject(value))
    throw new McpxError("bad_server_answer", `${server} sent inputRequests that are not an object`);
  const entries = Object.entries(value).map(([key, asked]): [string, Question] => {
    if (!isObject(asked) || typeof asked.method !== "string") {
      throw new McpxError("bad_server_answer", `${server} sent the input request ${key} without a method`);
    }
    return [key, { method: asked.method, ...(isObject(asked.params) && { params: asked.params }) }];
  });
  return Object.fromEntries(entries);
}

/** A result where an error has become one; everything else is thrown on. */
export function bridgeError(thrown: unknown, server: Era, { caller, method }: Exchange): JsonObject {
  if (!(thrown instanceof RpcError)) throw thrown;
  if (thrown.fault.code === rpcCodes.urlElicitationRequired && caller.isPublic === true) {
    const text =
      "the server wants its user to open an address: call the tool at /mcp with a client of your own";
    throw rpcError(rpcCodes.urlElicitationRequired, text);
  }
  if (server === caller.era || server === "modern") throw thrown;
  const { code, message, data } = thrown.fault;
  if (code === rpcCodes.urlElicitationRequired && isObject(data) && Array.isArray(data.elicitations)) {
    return { resultType: "input_required", inputRequests: toQuestions(data.elicitations) };
  }
  if (code === rpcCodes.resourceNotFound && method === "resources/read") {
    throw rpcError(rpcCodes.invalidParams, message, isObject(data) ? data : {});
  }
  throw thrown;
}

function toQuestions(elicitations: readonly unknown[]): Record<string, Question> {
  const asked = elicitations.filter(isObject).map((params, i): [string, Question] => {
    const { elicitationId } = params;
    const key = typeof elicitationId === "string" ? elicitationId : `elicitation-${i + 1}`;
    return [key, { method: "elicitation/create", params: { mode: "url", ...params } }];
  });
  return Object.fromEntries(asked);
}
