// Servers for tests that live in this process: real conversations, only without a wire.
import type { JsonObject } from "@mcpx/protocol";
import type { Link, LinkRequest, LinkTaker } from "../links/link.ts";
import type { Era } from "../mcp/era.ts";
import { rpcCodes, rpcError } from "../mcp/rpc-error.ts";
import type { Opening, OpenServer, ServerOptions } from "../servers/server.ts";

export interface Script {
  era?: Era;
  capabilities?: JsonObject;
  instructions?: string;
  tools?: readonly JsonObject[];
  prompts?: readonly JsonObject[];
  resources?: readonly JsonObject[];
  templates?: readonly JsonObject[];
  /** Instead of the lists above, or for what they do not cover. */
  handle?(request: LinkRequest): Promise<JsonObject> | JsonObject;
  /** Runs before a conversation is open. */
  opening?(opening: Opening): Promise<void> | void;
}

export interface InProcessServer {
  open: OpenServer;
  /** Everything that was asked of it, oldest first. */
  readonly asked: LinkRequest[];
  readonly openings: Opening[];
  readonly takers: LinkTaker[];
  readonly watched: ReadonlySet<string>[];
  /** Ends all conversations, as a crash would. */
  die(): void;
}

export function inProcessServer(script: Script): InProcessServer {
  const asked: LinkRequest[] = [];
  const openings: Opening[] = [];
  const takers: LinkTaker[] = [];
  const watched: ReadonlySet<string>[] = [];
  const ends: ((why: string) => void)[] = [];
  const open: OpenServer = async (opening, taker) => {
    await script.opening?.(opening);
    openings.push(opening);
    takers.push(taker);
    const { promise: ended, resolve } = Promise.withResolvers<string>();
    ends.push(resolve);
    const link: Link = {
      tellsQuestionsApart: true,
      facts: {
        era: script.era ?? "modern",
        revision: script.era === "legacy" ? "2025-11-25" : "2026-07-28",
        capabilities: { tools: {}, prompts: {}, resources: { subscribe: true }, ...script.capabilities },
        info: { name: "in-process", version: "1" },
        instructions: script.instructions,
      },
      async request(request) {
        asked.push(request);
        return await answer(script, request);
      },
      notify: () => {},
      watch: (uris) => void watched.push(uris),
      setLogLevel: () => {},
      ended,
      close: async () => resolve("closed"),
    };
    return link;
  };
  return {
    open,
    asked,
    openings,
    takers,
    watched,
    die() {
      for (const end of ends.splice(0)) end("it died");
    },
  };
}

async function answer(script: Script, request: LinkRequest): Promise<JsonObject> {
  const { tools = [], prompts = [], resources = [], templates = [] } = script;
  const handled = await script.handle?.(request);
  if (handled !== undefined) return handled;
  switch (request.method) {
    case "tools/list":
      return { tools: [...tools] };
    case "prompts/list":
      return { prompts: [...prompts] };
    case "resources/list":
      return { resources: [...resources] };
    case "resources/templates/list":
      return { resourceTemplates: [...templates] };
    case "tools/call":
      return { content: [{ type: "text", text: JSON.stringify(request.params) }] };
    default:
      throw rpcError(rpcCodes.methodNotFound, "not here");
  }
}

export function serverOptions(
  name: string,
  open: OpenServer,
  more: Partial<ServerOptions> = {},
): ServerOptions {
  return {
    name,
    segment: name,
    origin: { kind: "configured" },
    isTrusted: false,
    listMs: 2_000,
    open,
    ...more,
  };
}
