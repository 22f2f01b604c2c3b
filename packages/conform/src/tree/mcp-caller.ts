// A plain MCP client of the handshake era (2025-06-18) at `/mcp`, as small as it can be.
import type { Seen } from "../rooms/room-member.ts";
import type { Target } from "../target.ts";
import type { RpcAnswer } from "./registrant.ts";

const protocolVersion = "2025-06-18";

export interface McpCaller {
  ask(method: string, params: object): Promise<RpcAnswer>;
  /** Every page of `tools/list`. */
  tools(): Promise<Seen[]>;
}

export async function openMcpCaller({ url }: Target, token: string): Promise<McpCaller> {
  let session: string | undefined;
  let last = 0;
  const post = async (message: object) => {
    const response = await fetch(`${url}/mcp?names=canonical`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...(session !== undefined && { "mcp-session-id": session, "mcp-protocol-version": protocolVersion }),
      },
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
      signal: AbortSignal.timeout(30_000),
    });
    session ??= response.headers.get("mcp-session-id") ?? undefined;
    return response;
  };
  const ask = async (method: string, params: object): Promise<RpcAnswer> => {
    last += 1;
    const id = last;
    const response = await post({ id, method, params });
    const answer = messagesOf(await response.text()).find((message) => message.id === id);
    if (answer === undefined) throw new Error(`${method} was answered with HTTP ${response.status} alone`);
    return answer;
  };
  const hello = { protocolVersion, capabilities: {}, clientInfo: { name: "conform", version: "1" } };
  const { error } = await ask("initialize", hello);
  if (error !== undefined) throw new Error(`initialize was refused: ${error.message}`);
  await (await post({ method: "notifications/initialized" })).text();
  return { ask, tools: () => allTools(ask) };
}

async function allTools(ask: McpCaller["ask"]): Promise<Seen[]> {
  const tools: Seen[] = [];
  let cursor: string | undefined;
  do {
    const { result, error } = await ask("tools/list", cursor === undefined ? {} : { cursor });
    if (error !== undefined) throw new Error(`tools/list was refused: ${error.message}`);
    tools.push(...result.tools);
    cursor = result.nextCursor;
  } while (cursor !== undefined);
  return tools;
}

/** One JSON text, or the data of server-sent events. */
function messagesOf(text: string): Seen[] {
  if (text.startsWith("{")) return [JSON.parse(text)];
  const events = text.split(/\r?\n\r?\n/).map((event) =>
    event
      .split(/\r?\n/)
      .filter((line) => line.startsWith("data:"))
      .map((line) => line.slice(5).trimStart())
      .join("\n"),
  );
  return events.filter((data) => data.startsWith("{")).map((data) => JSON.parse(data));
}
