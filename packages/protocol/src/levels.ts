// Privilege levels as one table: what each level may send, and which cells of it an operator may assign. [X1-3.1-4]
// [PL-4-1]

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
  "tools_request",
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
  tools_request: "yes",
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

export type LevelTable = Readonly<Record<Level, Readonly<Record<Action, Permission>>>>;

export const levelTable: LevelTable = {
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

/**
 * Rights an operator may assign to any level, and the words for them. Calls are not among them: a level that may call is
 * `full`. Neither is what a participant needs to keep its own connection, key and tools safe.
 */
export const assignableRights = {
  proposal: ["allow", "deny"],
  chat: ["allow", "deny"],
  withdraw: ["allow", "deny"],
  reject: ["allow", "addressed", "deny"],
  status: ["allow", "deny"],
  presence_status: ["allow", "deny"],
} as const satisfies Record<string, readonly AssignedRight[]>;

export type AssignableRight = keyof typeof assignableRights;
/** `addressed`: only of proposals addressed to the sender. */
export type AssignedRight = "allow" | "addressed" | "deny";
export type LevelRights = Readonly<Partial<Record<AssignableRight, AssignedRight>>>;

const permissionOf: Record<AssignedRight, Permission> = { allow: "yes", addressed: "addressed", deny: "no" };

/** The table with the rights an operator has assigned. */
export function withAssignedRights(assigned: Readonly<Partial<Record<Level, LevelRights>>>): LevelTable {
  const changed = (level: Level): LevelTable[Level] => ({
    ...levelTable[level],
    ...Object.fromEntries(
      Object.entries(assigned[level] ?? {}).map(([right, word]) => [
        actionOfRight(right as AssignableRight),
        permissionOf[word],
      ]),
    ),
  });
  return { restricted: changed("restricted"), responder: changed("responder"), full: changed("full") };
}

/** What a level may without an operator's word. */
export function builtInRight(level: Level, right: AssignableRight): AssignedRight {
  const permission = levelTable[level][actionOfRight(right)];
  return permission === "yes" ? "allow" : permission === "no" ? "deny" : permission;
}

function actionOfRight(right: AssignableRight): Action {
  return right === "presence_status" ? "system.presence_status" : right;
}
