// Level × kind: whether a member may send this at all. It looks at `kind`, and of JSON-RPC only at which of `id`,
// `method`, `result`, `error` are there. [X1-3.2-1]
import {
  type Action,
  type Envelope,
  isV0Chat,
  type Level,
  type LevelTable,
  McpxError,
  type Permission,
  roomMethods,
} from "@mcpx/protocol";

const participantTypes: Record<string, Action> = {
  tool_access_policy: "system.tool_access_policy",
  capability_revoked: "system.capability_revoked",
  refresh: "system.refresh",
  key: "system.key",
  presence_status: "system.presence_status",
};

/**
 * What an envelope does; throws for what no participant may send. COMPAT: with `hasToolsRequest`, a request for a tool is
 * an action of its own, since it is no call. [AC-11-1]
 */
export function actionOf(envelope: Envelope, hasToolsRequest = false): Action {
  const { payload } = envelope;
  switch (envelope.kind.kind) {
    case "mcp":
      // Before levels, so that a restricted v0 client may chat. [X0-8.1-1]
      if (isV0Chat(envelope)) return "chat";
      if (Object.hasOwn(payload, "result") || Object.hasOwn(payload, "error")) return "mcp.response";
      if (!Object.hasOwn(payload, "id")) return "mcp.notification";
      return hasToolsRequest && payload.method === roomMethods.requestTool ? "tools_request" : "mcp.request";
    case "mcp/proposal":
      return "proposal";
    case "chat":
      return "chat";
    case "mcpx.withdraw.proposal":
      return "withdraw";
    case "mcpx.reject.proposal":
      return "reject";
    case "mcpx.status.proposal":
      return "status";
    case "presence":
      throw new McpxError("kind_not_allowed", "presence is sent by the gateway only", {
        suggestion: "Send kind system, type presence_status",
      });
    case "system":
      return systemAction(payload.type, Object.hasOwn(payload, "event"));
  }
}

function systemAction(type: unknown, hasEvent: boolean): Action {
  if (hasEvent) throw new McpxError("bad_system", "events are sent by the gateway only"); // [X1-4-2]
  const action =
    typeof type === "string" && Object.hasOwn(participantTypes, type) ? participantTypes[type] : undefined;
  if (action === undefined) {
    throw new McpxError(
      "bad_system",
      `payload.type must be one of ${Object.keys(participantTypes).join(", ")}`,
    );
  }
  return action;
}

/** Throws where the level forbids the action; `addressed` is left to the handler, which can look it up. */
export function authorise(table: LevelTable, level: Level, action: Action): Permission {
  const permission = table[level][action];
  if (permission !== "no") return permission;
  if (action.startsWith("mcp.")) {
    throw new McpxError(
      "privilege_violation",
      `${level} participants cannot send this kind of MCP message directly`,
    );
  }
  throw new McpxError("kind_not_allowed", `${level} participants cannot send this kind (${action})`);
}
