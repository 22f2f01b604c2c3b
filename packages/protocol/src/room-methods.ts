// The methods that rooms carry under `kind: mcp` although MCP does not define them: the exceptions to "no MCPx method is
// added to the MCP namespace". `spec/PROTOCOL.md` shows this table; a test keeps them equal. [X1-4.1-1]

export const roomMethods = {
  /** Asks the owner of tools for a capability. */
  requestCapability: "capabilities/request",
  /** A human's yes to what a guard asks in the room. */
  approveCapability: "capabilities/approve",
  /** Decides about a call that waits at a gate of the tree. */
  confirmGate: "mcpax/confirm",
  /** COMPAT: chat as v0 has it. */
  chat: "notifications/chat/message",
  /** COMPAT: a call that a participant who may not call asks for. */
  requestTool: "tools/request",
} as const;
