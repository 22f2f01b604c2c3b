import { describe, expect, test } from "vitest";
import { type Action, actions, isLevel, type Level, levelRank, levels, levelTable } from "./levels.ts";

// Written from the ledger, not from the code.
const expected = `
  action                      restricted   responder    full
  mcp.request                 no           no           yes
  mcp.notification            no           no           yes
  mcp.response                no           addressed    yes
  proposal                    yes          yes          yes
  tools_request               yes          yes          yes
  chat                        yes          yes          yes
  withdraw                    yes          yes          yes
  reject                      addressed    addressed    yes
  status                      yes          yes          yes
  system.tool_access_policy   yes          yes          yes
  system.capability_revoked   yes          yes          yes
  system.refresh              yes          yes          yes
  system.key                  yes          yes          yes
  system.presence_status      yes          yes          yes
`;

const [header = [], ...rows] = expected
  .trim()
  .split("\n")
  .map((line) => line.trim().split(/\s+/));
const cells = rows.flatMap(([action, ...permissions]) =>
  permissions.map((permission, column) => ({ action, level: header[column + 1], permission })),
) as { action: Action; level: Level; permission: string }[];

test.each(cells)("[X1-3.1-4] $level, $action: $permission", ({ level, action, permission }) => {
  expect(levelTable[level][action]).toBe(permission);
});

test("[X1-3.1-4] the table has no other cells", () => {
  expect(rows.map(([action]) => action)).toEqual(actions);
  expect(Object.keys(levelTable).sort()).toEqual([...levels].sort());
  for (const level of levels) expect(Object.keys(levelTable[level]).sort()).toEqual([...actions].sort());
});

const allowed = (level: Level, prefix: string) =>
  actions.filter((action) => action.startsWith(prefix) && levelTable[level][action] !== "no");

test("[X1-3.1-1] full and restricted are levels, and responder stands between them", () => {
  expect(levels).toEqual(["restricted", "responder", "full"]);
  expect(levels.map(levelRank)).toEqual([0, 1, 2]);
});

test("[X1-3.1-2] full may send every action, and asks nobody", () => {
  expect(actions.map((action) => levelTable.full[action])).toEqual(actions.map(() => "yes"));
});

test("[X1-3.1-3] restricted may send no mcp at all, responses included; responder only responses to it", () => {
  expect(allowed("restricted", "mcp")).toEqual([]);
  expect(allowed("responder", "mcp")).toEqual(["mcp.response"]);
  expect(levelTable.responder["mcp.response"]).toBe("addressed");
});

test("[PL-4-1] withdraw, reject and status are cells of their own", () => {
  for (const level of levels) {
    expect(Object.keys(levelTable[level])).toEqual(expect.arrayContaining(["withdraw", "reject", "status"]));
  }
  expect(levelTable.restricted.reject).not.toBe(levelTable.restricted.withdraw);
});

test("a higher level may do whatever a lower one may", () => {
  const rank = { no: 0, addressed: 1, yes: 2 };
  for (const action of actions) {
    const ranks = levels.map((level) => rank[levelTable[level][action]]);
    expect(ranks).toEqual([...ranks].sort());
  }
});

describe("the name of a level", () => {
  test.each(["full", "restricted", "responder"])("%s is one", (name) => {
    expect(isLevel(name)).toBe(true);
  });

  test.each([
    "Full",
    "full ",
    "full\n",
    "",
    "admin",
    "__proto__",
    "constructor",
    "toString",
    0,
    null,
    undefined,
    ["full"],
    {},
  ])("%j is none", (name) => {
    expect(isLevel(name)).toBe(false);
  });
});
