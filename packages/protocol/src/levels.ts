// Privilege levels as one table: what each level may send. [X1-3.1-4] [PL-4-1]

export const levels = ["restricted", "responder", "full"] as const;

export type Level = (typeof levels)[number];

export function isLevel(value: unknown): value is Level {
  return levels.includes(value as Level);
}

/** Higher may more. */
export function levelRank(level: Level): number {
  return levels.indexOf(level);
}

/** What an envelope does, as far as levels care. */
export const actions = [
  "mcp.request",
  "mcp.notification",
  "mcp.response",
  "proposal",
  "chat",
  "withdraw",
  "reject",
  "status",
  "system.tool_access_policy",
  "system.capability_revoked",
  "system.refresh",
  "system.key",
  "system.presence_status",
] as const;

export type Action = (typeof actions)[number];

/** `addressed`: only for what was addressed to the sender, found by one log lookup. */
export type Permission = "yes" | "no" | "addressed";

const restricted: Record<Action, Permission> = {
  "mcp.request": "no",
  "mcp.notification": "no",
  "mcp.response": "no",
  proposal: "yes",
  chat: "yes",
  withdraw: "yes",
  reject: "addressed",
  status: "yes",
  "system.tool_access_policy": "yes",
  "system.capability_revoked": "yes",
  "system.refresh": "yes",
  "system.key": "yes",
  "system.presence_status": "yes",
};

export const levelTable: Readonly<Record<Level, Readonly<Record<Action, Permission>>>> = {
  restricted,
  responder: { ...restricted, "mcp.response": "addressed" },
  full: {
    ...restricted,
    "mcp.request": "yes",
    "mcp.notification": "yes",
    "mcp.response": "yes",
    reject: "yes",
  },
};
