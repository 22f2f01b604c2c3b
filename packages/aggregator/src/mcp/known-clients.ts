// How long clients wait for a call, by the name they give: data, each row with where it is from. A client that lies about
// its name is only answered too early or too late. Pure. [B-CLIENT-1]
import type { JsonObject } from "@mcpx/protocol";

export interface KnownClient {
  readonly client: string;
  /** Its `clientInfo.name`, in lower case. */
  readonly name: RegExp;
  /** The time after which the client gives up a call. */
  readonly waitsMs: number;
  /** Unless it hears progress: then the time begins again. */
  readonly isKeptByProgress: boolean;
  readonly source: string;
}

export const knownClients: readonly KnownClient[] = [
  {
    client: "Claude Code",
    name: /^claude-code$/,
    waitsMs: 300_000,
    isKeptByProgress: true,
    source: "measured with 2.1.327: ends a call that says nothing for 300 s; progress begins the time again",
  },
  {
    client: "Claude Desktop",
    name: /^claude-ai$/,
    waitsMs: 60_000,
    isKeptByProgress: false,
    source: "measured: ends calls after 60 s; four minutes are reported of other builds",
  },
  {
    client: "Codex",
    name: /^codex-mcp-client$/,
    waitsMs: 300_000,
    isKeptByProgress: false,
    source: "measured with 0.169: tool_timeout_sec is 300 unless set",
  },
  {
    client: "Gemini CLI",
    name: /^gemini-cli-mcp-client/,
    waitsMs: 600_000,
    isKeptByProgress: false,
    source: "google-gemini/gemini-cli, packages/core/src/tools/mcp-client.ts: 10 minutes unless set",
  },
  {
    client: "opencode",
    name: /^opencode$/,
    waitsMs: 60_000,
    isKeptByProgress: true,
    source: "measured with 1.18.33: ends a call that says nothing after 60 s; progress begins the time again",
  },
  {
    client: "LangChain MCP adapters",
    name: /^@langchain\/mcp-adapters$/,
    waitsMs: 60_000,
    isKeptByProgress: false,
    source: "measured with 1.1.4: ends calls after 60 s, and asks for no progress",
  },
];

export function knownClient(info: JsonObject | undefined): KnownClient | undefined {
  const { name } = info ?? {};
  if (typeof name !== "string" || name.length > 100) return undefined;
  const lower = name.toLowerCase();
  return knownClients.find((known) => known.name.test(lower));
}
