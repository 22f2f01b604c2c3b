// A scanner that is a tool of a server in the tree: it is called beside everybody's calls, and its structured content,
// or its one text, is its verdict.
import { isObject, type JsonObject, McpxError } from "@mcpx/protocol";
import { dispatch } from "../dispatch/dispatch.ts";
import type { Exchange } from "../mcp/exchange.ts";
import { innerPrincipal, plainCaller } from "../mcp/plain-caller.ts";
import { serversOf } from "../servers/tree-state.ts";
import type { Scanner } from "./scanner.ts";

/** `tool`: its name at that server. */
export function askServer(name: string, tool: string): Scanner["ask"] {
  return async (question, signal, state) => {
    const server = serversOf(state).find((one) => one.name === name);
    if (server === undefined) throw new McpxError("server_unreachable", `there is no server ${name}`);
    const params = { name: tool, arguments: { ...question } };
    const result = await dispatch(state, exchangeFor(name, params, signal), server, { params });
    if (result.isError === true) throw new Error(`its tool ${tool} has failed`);
    return result.structuredContent ?? textOf(result);
  };
}

function textOf({ content }: JsonObject): unknown {
  const [first] = Array.isArray(content) ? (content as unknown[]) : [];
  return isObject(first) && typeof first.text === "string" ? JSON.parse(first.text) : undefined;
}

/** Of the tree itself, which answers no questions. */
function exchangeFor(name: string, params: JsonObject, signal: AbortSignal): Exchange {
  return {
    caller: plainCaller(innerPrincipal("scanner", ["**"]), `scanner:${name}`),
    method: "tools/call",
    params,
    wantsProgress: false,
    paramHeaders: undefined,
    signal,
    notify: () => {},
    ask: async () => {
      throw new McpxError("unknown_method", "a scanner judges without asking back");
    },
  };
}
