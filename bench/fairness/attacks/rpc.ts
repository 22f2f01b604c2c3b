// Requests of MCP in both eras, and of the two WebSockets.
import type { Request } from "./attack.ts";

const revision = "2026-07-28";
const meta = {
  "io.modelcontextprotocol/protocolVersion": revision,
  "io.modelcontextprotocol/clientInfo": { name: "attacker", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

export const rpc = (method: string, params: string): string =>
  `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`;

/** A request of the era without sessions. `{fill}` in the parameters is the shape of the attack's size. */
export function modern(
  method: string,
  params: object,
  { path = "/mcp", fill = () => "0" }: { path?: string; fill?(bytes: number): string } = {},
): Request {
  const { name } = params as { name?: string };
  const text = JSON.stringify({ ...params, _meta: meta });
  return {
    method: "POST",
    path,
    headers: {
      "mcp-protocol-version": revision,
      "mcp-method": method,
      ...(name !== undefined && { "mcp-name": name }),
    },
    body: (bytes) =>
      rpc(
        method,
        text.replace('"{fill}"', () => fill(bytes)),
      ),
  };
}

/** A request of the eras with sessions, in a session. */
export function legacy(method: string, params: object, session = "2025-06-18"): Request {
  return { method: "POST", path: "/mcp", session, body: () => rpc(method, JSON.stringify(params)) };
}

/** Opens a session, which remembers what the client says it can do. */
export const initialize = (fill: (bytes: number) => string): Request => ({
  method: "POST",
  path: "/mcp",
  body: (bytes) =>
    rpc(
      "initialize",
      `{"protocolVersion":"2025-06-18","capabilities":{"experimental":{"x":${fill(bytes)}}},"clientInfo":{"name":"attacker","version":"1"}}`,
    ),
});

export const get = (path: string): Request => ({ method: "GET", path });

/** A WebSocket handshake. */
export const upgrade = (path: string): Request => ({
  method: "GET",
  path,
  headers: {
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
  },
});
