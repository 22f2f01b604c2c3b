// The messages printed in the four documents of the rooms, as a participant sends them: literally, without the comments.
// A placeholder of the documents (`{ … }`) is filled in with the smallest thing that fits.

export interface Printed {
  /** Ledger ids. */
  ids: string;
  /** Where it is printed, and what it is. */
  title: string;
  text: string;
  /** Of its sender; full unless given. */
  level?: "restricted";
  /** Who sends it, where the message itself does not say. */
  sender?: string;
  /** Printed messages that come before it in the same document's story. */
  after?: readonly string[];
  /** Fields the gateway adds, because the printed message leaves them out. */
  added?: readonly string[];
}

const mcpCall = `"payload": { "jsonrpc": "2.0", "id": 42, "method": "tools/call", "params": {} }`;

export const v0: readonly Printed[] = [
  {
    ids: "[X0-4-2] [X0-4.1-1]",
    title: "v0 §4 and §4.1: the envelope, with an embedded request",
    text: `{
  "protocol": "mcp-x/v0",
  "id": "2f6b6e70-7b36-4b8b-9ad8-7c4f7d0e2d0b",
  "ts": "2025-08-17T14:00:00Z",
  "from": "robot-alpha",
  "to": ["coordinator"],
  "kind": "mcp",
  "correlation_id": "env-1",
  ${mcpCall}
}`,
  },
  {
    ids: "[X0-4.1-6] [X0-4.1-7]",
    title: "v0 §4.1: initialize",
    text: `{
  "protocol": "mcp-x/v0",
  "id": "env-init-1",
  "ts": "2025-08-17T14:00:00Z",

  "from": "coordinator",
  "to": ["robot-alpha"],
  "kind": "mcp",
  "payload": {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
      "protocolVersion": "2025-06-18",
      "capabilities": { "sampling": {}, "elicitation": {}, "roots": {} },
      "clientInfo": { "name": "Coordinator", "version": "1.0.0" }
    }
  }
}`,
  },
  {
    ids: "[X0-4.1-3] [X0-4.1.1-1]",
    title: "v0 §4.1.1: a response",
    text: `{
  "protocol": "mcp-x/v0",
  "id": "env-2",
  "ts": "2025-08-17T14:00:00Z",

  "from": "robot-alpha",
  "to": ["coordinator"],
  "kind": "mcp",
  "correlation_id": "env-1",
  "payload": {
    "jsonrpc": "2.0",
    "id": 42,
    "result": { "status": "ok" }
  }
}`,
  },
  {
    ids: "[X0-4-5] [X0-4.1-4]",
    title: "v0 §4.1.1: a reply that is a notification",
    text: `{
  "protocol": "mcp-x/v0",
  "id": "env-3",
  "ts": "2025-08-17T14:00:05Z",
  "from": "coordinator",
  "to": ["robot-alpha"],
  "kind": "mcp",
  "correlation_id": "env-chat-1",
  "payload": { 
    "jsonrpc": "2.0",
    "method": "notifications/message_acknowledged",
    "params": { "original_id": "env-chat-1" }
  }
}`,
  },
  {
    ids: "[X0-8.1-1]",
    title: "v0 §8.1: chat",
    text: `{
  "protocol": "mcp-x/v0",
  "id": "env-chat-1",
  "ts": "2025-08-17T14:05:00Z",
  "from": "user-alice",
  "kind": "mcp",
  "payload": {
    "jsonrpc": "2.0",
    "method": "notifications/chat/message",
    "params": {
      "text": "Hello everyone!",
      "format": "plain"
    }
  }
}`,
  },
  {
    ids: "[X0-4.1-2]",
    title: "v0 §13.1: a tool call",
    text: `{
  "protocol": "mcp-x/v0",
  "id": "env-1",
  "ts": "2025-08-17T14:00:00Z",

  "from": "coordinator",
  "to": ["robot-alpha"],
  "kind": "mcp",
  "payload": { "jsonrpc": "2.0", "id": "42", "method": "tools/call", "params": { "name": "robot.move", "arguments": {"x":1, "y":2} } }
}`,
  },
  {
    ids: "[X0-4.1-3] [X0-4.1-5]",
    title: "v0 §13.1: its response",
    after: ["v0 §13.1: a tool call"],
    text: `{
  "protocol": "mcp-x/v0",
  "id": "env-2",
  "ts": "2025-08-17T14:00:00Z",

  "from": "robot-alpha",
  "to": ["coordinator"],
  "kind": "mcp",
  "correlation_id": "env-1",
  "payload": { "jsonrpc": "2.0", "id": "42", "result": { "status": "ok" } }
}`,
  },
  {
    ids: "[X0-13.3-1]",
    title: "v0 §13.3: progress",
    text: `{
  "protocol": "mcp-x/v0",
  "id": "env-progress-1",
  "ts": "2025-08-17T14:00:10Z",
  "from": "robot-alpha",
  "to": ["coordinator"],
  "kind": "mcp",
  "correlation_id": "env-1",
  "payload": {
    "jsonrpc": "2.0",
    "method": "notifications/progress",
    "params": {
      "progressToken": 42,
      "progress": 0.5,
      "total": 1.0
    }
  }
}`,
  },
  {
    ids: "[X0-13.4-1]",
    title: "v0 §13.4: cancellation",
    text: `{
  "protocol": "mcp-x/v0",
  "id": "env-cancel-1",
  "ts": "2025-08-17T14:00:15Z",
  "from": "coordinator",
  "to": ["robot-alpha"],
  "kind": "mcp",
  "payload": {
    "jsonrpc": "2.0",
    "method": "notifications/cancelled",
    "params": {
      "requestId": 42,
      "reason": "User cancelled operation"
    }
  }
}`,
  },
];

export const v01: readonly Printed[] = [
  {
    ids: "[X1-4-1]",
    title: "v0.1 §4: the envelope",
    text: `{
  "protocol": "mcpx/v0.1",
  "id": "2f6b6e70-7b36-4b8b-9ad8-7c4f7d0e2d0b",
  "ts": "2025-08-26T14:00:00Z",
  "from": "robot-alpha",
  "to": ["coordinator"],
  "kind": "mcp",
  "correlation_id": "env-1",
  ${mcpCall}
}`,
  },
  {
    ids: "[X1-3.1-2]",
    title: "v0.1 §4.1.1: a tool call of a full participant",
    added: ["ts"],
    text: `{
  "protocol": "mcpx/v0.1",
  "id": "env-call-1",
  "from": "trusted-agent",
  "to": ["target-agent"],
  "kind": "mcp",
  "payload": {
    "jsonrpc": "2.0",
    "id": 42,
    "method": "tools/call",
    "params": {
      "name": "dangerous_operation",
      "arguments": {"target": "production"}
    }
  }
}`,
  },
  {
    ids: "[X1-4.2-1] [X1-4.2-2]",
    title: "v0.1 §4.2: a proposal of a restricted participant",
    level: "restricted",
    added: ["ts"],
    text: `{
  "protocol": "mcpx/v0.1",
  "id": "env-req-1",
  "from": "untrusted-agent",
  "to": ["target-agent"],
  "kind": "mcp/proposal",
  "payload": {
    "method": "tools/call",
    "params": {
      "name": "dangerous_operation",
      "arguments": {"target": "production"}
    },
    "reason": "Need to perform maintenance"
  }
}`,
  },
  {
    ids: "[X1-4.2.1-1]",
    title: "v0.1 §4.2.1: its fulfilment",
    after: ["v0.1 §4.2: a proposal of a restricted participant"],
    added: ["ts"],
    text: `{
  "protocol": "mcpx/v0.1",
  "id": "env-fulfill-1",
  "from": "human-user",
  "to": ["target-agent"],
  "kind": "mcp",
  "payload": {
    "jsonrpc": "2.0",
    "id": 44,
    "method": "tools/call",
    "params": {
      "name": "dangerous_operation",
      "arguments": {"target": "production"}
    }
  }
}`,
  },
  {
    ids: "[X1-4.2.1-1] [X1-4.2.1-3]",
    title: "v0.1 §4.2.1: the response to fulfiller and proposer",
    after: ["v0.1 §4.2: a proposal of a restricted participant", "v0.1 §4.2.1: its fulfilment"],
    added: ["ts"],
    text: `{
  "protocol": "mcpx/v0.1",
  "id": "env-fulfill-resp-1",
  "from": "target-agent",
  "to": ["human-user", "untrusted-agent"],
  "kind": "mcp",
  "correlation_id": "env-fulfill-1",
  "payload": {
    "jsonrpc": "2.0",
    "id": 44,
    "result": {
      "content": [{
        "type": "text",
        "text": "Operation completed successfully"
      }]
    }
  }
}`,
  },
  {
    ids: "[X1-4.3-1]",
    title: "v0.1 §4.3: chat",
    added: ["ts"],
    text: `{
  "protocol": "mcpx/v0.1",
  "id": "env-chat-1",
  "from": "user-alice",
  "kind": "chat",
  "payload": {
    "text": "Hello everyone!",
    "format": "plain"
  }
}`,
  },
];

export const adr003: readonly Printed[] = [
  {
    ids: "[AC-1-1] [AC-1-8]",
    title: "ADR-003, 1: a tool access policy",
    text: `{
  "protocol": "mcp-x/v0",
  "id": "msg-100",
  "ts": "2024-01-01T12:00:00Z",
  "from": "agent-b",
  "kind": "system",
  "payload": {
    "type": "tool_access_policy",
    "policy": {
      "mode": "allowlist",
      "default": "deny",
      "rules": [
        {
          "agent": "agent-a",
          "tools": ["read_file", "list_files"],
          "expires": "2024-01-02T00:00:00Z"
        },
        {
          "agent": "user-1",
          "tools": "*",
          "requires_approval": true
        }
      ]
    }
  }
}`,
  },
  {
    ids: "[AC-2-1]",
    title: "ADR-003, 2: a request for a capability",
    text: `{
  "protocol": "mcp-x/v0",
  "id": "msg-101",
  "ts": "2024-01-01T12:00:00Z",
  "from": "agent-a",
  "to": ["agent-b"],
  "kind": "mcp",
  "payload": {
    "jsonrpc": "2.0",
    "id": "cap-req-1",
    "method": "capabilities/request",
    "params": {
      "tools": ["dangerous_operation"],
      "duration": 3600,
      "reason": "Need to perform maintenance task"
    }
  }
}`,
  },
  {
    ids: "[AC-3-1] [AC-3-2]",
    title: "ADR-003, 3: the grant, a response without correlation_id",
    after: ["ADR-003, 2: a request for a capability"],
    added: ["correlation_id"],
    text: `{
  "protocol": "mcp-x/v0",
  "id": "msg-102",
  "ts": "2024-01-01T12:00:01Z",
  "from": "agent-b",
  "to": ["agent-a"],
  "kind": "mcp",
  "payload": {
    "jsonrpc": "2.0",
    "id": "cap-req-1",
    "result": {
      "token": "cap_2024_abc123def456",
      "tools": ["dangerous_operation"],
      "expires": "2024-01-01T13:00:00Z",
      "signature": "..."
    }
  }
}`,
  },
  {
    ids: "[AC-4-1]",
    title: "ADR-003, 4: a call with the capability",
    text: `{
  "protocol": "mcp-x/v0",
  "id": "msg-103",
  "ts": "2024-01-01T12:05:00Z",
  "from": "agent-a",
  "to": ["agent-b"],
  "kind": "mcp",
  "payload": {
    "jsonrpc": "2.0",
    "id": "tool-call-1",
    "method": "tools/call",
    "params": {
      "name": "dangerous_operation",
      "arguments": {"target": "staging"},
      "capability": "cap_2024_abc123def456"
    }
  }
}`,
  },
  {
    ids: "[AC-11-2]",
    title: "ADR-003, alternative 5, 4: a call on behalf of a requester",
    added: ["id", "ts"],
    text: `{
  "protocol": "mcp-x/v0",
  "from": "user-1",
  "to": ["agent-b"],
  "kind": "mcp",
  "payload": {
    "jsonrpc": "2.0",
    "id": "call-456",
    "method": "tools/call",
    "params": {
      "name": "dangerous_operation",
      "arguments": {"target": "staging"},
      "onBehalfOf": "agent-a",
      "requestId": "req-123"
    }
  }
}`,
  },
  {
    ids: "[AC-11-2]",
    title: "ADR-003, alternative 5, 5: its response, to both",
    after: ["ADR-003, alternative 5, 4: a call on behalf of a requester"],
    added: ["id", "ts", "correlation_id"],
    text: `{
  "protocol": "mcp-x/v0",
  "from": "agent-b",
  "to": ["user-1", "agent-a"],
  "kind": "mcp",
  "payload": {
    "jsonrpc": "2.0",
    "id": "call-456",
    "result": {
      "content": [{
        "type": "text",
        "text": "Operation completed"
      }],
      "fulfilledBy": "user-1",
      "originalRequester": "agent-a"
    }
  }
}`,
  },
];

/** Only where `compat.toolsRequest` is on. */
export const toolsRequest: Printed = {
  ids: "[AC-11-1]",
  title: "ADR-003, alternative 5, 2: tools/request",
  level: "restricted",
  text: `{
  "protocol": "mcp-x/v0",
  "from": "agent-a",
  "to": ["agent-b"],
  "kind": "mcp",
  "payload": {
    "jsonrpc": "2.0",
    "id": "req-123",
    "method": "tools/request",
    "params": {
      "name": "dangerous_operation",
      "arguments": {"target": "staging"},
      "reason": "Need to complete maintenance task"
    }
  }
}`,
};

const adrV2c: readonly Printed[] = [
  {
    ids: "[PL-7-1] [PL-10-1]",
    title: "ADR-v2c, option 5: a proposal with the method in its kind",
    level: "restricted",
    added: ["ts"],
    text: `{
  "protocol": "mcpx/v0.1",
  "id": "prop-123",
  "from": "untrusted-agent",
  "to": ["filesystem-agent"],
  "kind": "mcp.proposal.tools/call",
  "payload": {
    "method": "tools/call",
    "params": {}
  }
}`,
  },
  {
    ids: "[PL-1-1] [PL-1-2]",
    title: "ADR-v2c, option 5: a withdrawal",
    level: "restricted",
    after: ["ADR-v2c, option 5: a proposal with the method in its kind"],
    added: ["ts", "correlation_id"],
    text: `{
  "protocol": "mcpx/v0.1",
  "id": "withdraw-456",
  "from": "untrusted-agent",
  "correlationId": "prop-123",
  "kind": "mcpx.withdraw.proposal",
  "payload": {
    "reason": "No longer needed"
  }
}`,
  },
  {
    ids: "[PL-2-1] [PL-2-2]",
    title: "ADR-v2c, option 5: a rejection",
    level: "restricted",
    after: ["ADR-v2c, option 5: a proposal with the method in its kind"],
    added: ["ts", "correlation_id"],
    text: `{
  "protocol": "mcpx/v0.1",
  "id": "reject-789",
  "from": "filesystem-agent",
  "to": ["untrusted-agent"],
  "correlationId": "prop-123",
  "kind": "mcpx.reject.proposal",
  "payload": {
    "reason": "busy"
  }
}`,
  },
  {
    ids: "[PL-7-2]",
    title: "ADR-v2c, option 1: mcp/request as the kind of a fulfilment",
    sender: "human-user",
    after: ["ADR-v2c, option 5: a proposal with the method in its kind"],
    added: ["ts", "from"],
    text: `{
  "protocol": "mcpx/v0.1",
  "id": "fulfil-1",
  "to": ["filesystem-agent"],
  "kind": "mcp/request",
  "correlation_id": "prop-123",
  "payload": { "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {} }
}`,
  },
  {
    ids: "[PL-6-1] [PL-7-1]",
    title: "ADR-v2c, option 7: mcp.proposal with a time to live",
    level: "restricted",
    sender: "untrusted-agent",
    added: ["ts", "from"],
    text: `{
  "protocol": "mcpx/v0.1",
  "id": "prop-ttl",
  "kind": "mcp.proposal",
  "payload": { "method": "tools/call", "params": {}, "ttl_ms": 60000 }
}`,
  },
  {
    ids: "[PL-5-1]",
    title: "ADR-v2c, option 8: a status, inside the smallest envelope",
    level: "restricted",
    sender: "filesystem-agent",
    after: ["ADR-v2c, option 5: a proposal with the method in its kind"],
    added: ["ts", "from", "correlation_id"],
    text: `{
  "protocol": "mcpx/v0.1",
  "id": "status-1",
  "kind": "mcpx.status.proposal",
  "correlationId": "prop-123",
  "payload": {
    "status": "considering"
  }
}`,
  },
];

export const allSent: readonly Printed[] = [...v0, ...v01, ...adr003, ...adrV2c];

export function senderOf({ text, sender }: Printed): string {
  return sender ?? JSON.parse(text).from;
}
