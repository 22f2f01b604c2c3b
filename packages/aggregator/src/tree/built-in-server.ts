// The tree's own tools, under the segment `mcpax`: a server like any other, only that its conversation is in this
// process: mcpax.status, mcpax.subservers, mcpax.routes, mcpax.notifications_dropped, mcpax.wait, mcpax.ask. See
// spec/PROTOCOL.md.
import { cautious, harmless, isObject, type JsonObject, type LatencyClass, McpxError } from "@mcpx/protocol";
import { allowed, askProperties } from "../gates/ask.ts";
import { wait } from "../gates/wait.ts";
import { answeringLink } from "../links/answering-link.ts";
import type { LinkRequest } from "../links/link.ts";
import type { Caller } from "../mcp/exchange.ts";
import { waitSchema } from "../mcp/wait-times.ts";
import { ownSegment } from "../names/own-segment.ts";
import { notificationsDropped } from "../notifications/notification-flows.ts";
import { authorisationStatus } from "../servers/awaited-authorisation.ts";
import { createServer, erasOf, type Server } from "../servers/server.ts";
import { serversOf, type TreeState } from "../servers/tree-state.ts";
import { findServerFor } from "../servers/users/server-for.ts";
import { signInStatus } from "../sign-in/sign-in-status.ts";
import { routesOf } from "../verbs/routes.ts";
import { serverStatus } from "./status.ts";

interface OwnTool {
  item: JsonObject;
  call(state: TreeState, caller: Caller, args: JsonObject): JsonObject | Promise<JsonObject>;
}

const tools: readonly OwnTool[] = [
  {
    item: ownItem("status", "Status of the tree: which servers are up, which are not, and why."),
    call: (state, caller) => ({
      name: state.name,
      version: state.version,
      segment: state.rootSegment ?? null,
      parents: state.parents(),
      servers: serversOf(state).map((server) => ({
        ...serverStatus(state, shownFor(state, server, caller)),
        ...(isOperator(caller) && authorisationStatus(server)),
        ...signInStatus(state, server, caller),
      })),
    }),
  },
  {
    item: ownItem("subservers", "The servers of the tree, with their names, versions and capabilities."),
    call: (state, caller) => ({
      subservers: serversOf(state)
        .map((server) => shownFor(state, server, caller))
        .map((server) => ({
          name: server.name,
          segment: server.segment ?? null,
          era: erasOf(server) ?? null,
          info: server.facts?.info ?? null,
          capabilities: server.facts?.capabilities ?? null,
        })),
    }),
  },
  {
    item: ownItem(
      "notifications_dropped",
      "How many notifications of each server were dropped because there were too many.",
    ),
    call: notificationsDropped,
  },
  {
    item: ownItem("routes", "Where a call of each tool goes.", {
      properties: { after: { type: "string", description: "the field next of the previous answer" } },
      // Servers are asked for their lists where these are not good any more.
      latency: "standard",
    }),
    call: (state, caller, { after }) => routesOf(state, caller, after),
  },
];

function isOperator({ principal, isPublic }: Caller): boolean {
  return principal.admin && isPublic !== true;
}

/** Answered with the result of the call it waits for, as it is. */
const waitItem = ownItem("wait", "Waits for a human's decision about a call, and gives its result.", {
  properties: {
    confirmation_id: {
      type: "string",
      description: "the confirmation_id that the result with status confirmation_required gave",
    },
    timeout_ms: waitSchema,
  },
  latency: "slow",
});

/** What its caller does then cannot be known, so that it is gated as what cannot be undone. */
const askItem: JsonObject = {
  name: "ask",
  description:
    "Asks a human whether you may make one call of a tool that is not here, with exactly these arguments.",
  inputSchema: {
    type: "object",
    properties: askProperties,
    required: Object.keys(askProperties),
    additionalProperties: false,
  },
  annotations: { destructiveHint: true, openWorldHint: true },
  _meta: { "x-mcpax-capability": { ...cautious, latency_class: "fast", cost_class: "free" } },
};

function ownItem(
  name: string,
  description: string,
  { properties = {}, latency = "fast" }: { properties?: JsonObject; latency?: LatencyClass } = {},
): JsonObject {
  return {
    name,
    description,
    inputSchema: { type: "object", properties, additionalProperties: false },
    annotations: { readOnlyHint: true, openWorldHint: false },
    _meta: { "x-mcpax-capability": { ...harmless, latency_class: latency } },
  };
}

/** The caller's own where it has been used, else the one that stands for it: to be looked at makes nothing. */
function shownFor(state: TreeState, server: Server, caller: Caller): Server {
  return findServerFor(state, server, caller) ?? server;
}

export function createBuiltInServer(state: () => TreeState): Server {
  return createServer({
    name: ownSegment,
    segment: ownSegment,
    origin: { kind: "built-in" },
    identity: () => ({ kind: "mcpx", facts: {} }),
    isTrusted: true,
    isUnpinned: true,
    listMs: 1_000,
    open: async () =>
      answeringLink((request) => answer(state(), request), { name: ownSegment, version: state().version }),
  });
}

async function answer(state: TreeState, request: LinkRequest): Promise<JsonObject> {
  const { method, params, caller } = request;
  const { gates } = state;
  const items = tools.map(({ item }) => item);
  if (method === "tools/list") return { tools: gates === undefined ? items : [...items, askItem, waitItem] };
  if (method !== "tools/call" || caller === undefined) throw new McpxError("unknown_method");
  const args = isObject(params.arguments) ? params.arguments : {};
  if (gates !== undefined && params.name === waitItem.name) {
    return await wait(state, gates, { ...request, caller }, args);
  }
  if (gates !== undefined && params.name === askItem.name) return await allowed(args);
  const tool = tools.find(({ item }) => item.name === params.name);
  if (tool === undefined) throw new McpxError("unknown_method");
  const structuredContent = await tool.call(state, caller, args);
  return {
    resultType: "complete",
    content: [{ type: "text", text: JSON.stringify(structuredContent, undefined, 1) }],
    structuredContent,
  };
}
