// A conversation with a gateway's tree, for commands that use it as any MCP client would.
import type { Credentials, LinkRequest } from "@mcpx/aggregator";
import type { JsonObject } from "@mcpx/protocol";
import { isMcpxError } from "@mcpx/protocol";
import { Failure } from "../framework/failure.ts";
import { version } from "../framework/version.ts";
import type { GatewayAccess } from "./gateway-access.ts";

/** Tokens made here count for a quarter of an hour. */
const tokenMs = 10 * 60_000;

/** Makes a new token before the last one ends. */
export function gatewayCredentials(access: GatewayAccess): Credentials {
  let held: { token: string; until: number } | undefined;
  return {
    async headers() {
      if (held === undefined || performance.now() > held.until) {
        const { token } = await access.enter();
        held = { token, until: performance.now() + tokenMs };
      }
      return { authorization: `Bearer ${held.token}` };
    },
    async refused(status) {
      held = undefined;
      return status === 401 && access.mintsTokens;
    },
  };
}

export interface TreeCaller {
  /** One request; throws what the tree says, for people. */
  request(method: string, params: JsonObject, more?: Partial<LinkRequest>): Promise<JsonObject>;
  close(): Promise<void>;
}

export async function openTree(access: GatewayAccess): Promise<TreeCaller> {
  // Here, so that commands that need no tree do not load it.
  const { openLink, ownRequest } = await import("@mcpx/aggregator");
  const { url } = await access.enter();
  const link = await told(
    openLink(
      {
        name: "the gateway",
        transport: {
          type: "http",
          url: `${url}/mcp?names=canonical`,
          credentials: gatewayCredentials(access),
        },
        clientInfo: { name: "mcpx-cli", version },
        capabilities: {},
      },
      {
        notification() {},
        question: () => Promise.reject(new Error("this command cannot answer questions of a server")),
        logLine() {},
      },
    ),
  );
  return {
    request: (method, params, more) =>
      told(link.request({ ...ownRequest(method, new AbortController().signal, params), ...more })),
    close: () => link.close(),
  };
}

async function told<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (isMcpxError(error)) throw new Failure(error.message, error.suggestion);
    const { fault } = error as { fault?: Fault };
    if (fault !== undefined)
      throw new Failure(textOf(fault), fault.data?.suggestion, { reason: fault.data?.reason });
    throw error;
  }
}

interface Fault {
  message: string;
  data?: { detail?: string; suggestion?: string; reason?: string };
}

/** Some messages are words of the protocol, and say nothing of this case. */
function textOf({ message, data }: Fault): string {
  const { detail } = data ?? {};
  return typeof detail !== "string" || message.includes(detail) ? message : `${message}: ${detail}`;
}
