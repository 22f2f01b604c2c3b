import { expect, test } from "vitest";
import type { ServerEntry } from "../config-edit/edit-config.ts";
import type { FoundServer } from "./find-servers.ts";
import { planImport, readChoice } from "./plan-import.ts";

function found(name: string, entry: ServerEntry, more: Partial<FoundServer> = {}): FoundServer {
  return {
    name,
    entry,
    client: "cursor",
    file: "f",
    project: undefined,
    isFromHere: false,
    needs: [],
    untaken: [],
    isOurs: false,
    ...more,
  };
}

const nothing = { servers: new Map(), segments: new Map(), segmentFor: (name: string) => name.toLowerCase() };

test("the same server at two clients comes once; another of its name gets a number", () => {
  const { planned } = planImport(
    [
      found("git", { command: "a" }),
      found("git", { command: "a" }, { client: "gemini" }),
      found("Git", { command: "b" }),
      found("git", { command: "c" }),
    ],
    nothing,
  );
  expect(planned.map(({ name, also, takenBy }) => [name, also.length, takenBy])).toEqual([
    ["git", 1, undefined],
    ["Git-2", 0, "git of cursor"],
    ["git-3", 0, "git of cursor"],
  ]);
});

test("what is here already, and what is mcpx itself, is left out", () => {
  const present = {
    ...nothing,
    servers: new Map([["mine", { command: "a", args: ["1"] }]]),
    segments: new Map([["mine", "mine"]]),
  };
  const { planned, left } = planImport(
    [
      found("theirs", { command: "a", args: ["1"] }),
      found("mcpx", { url: "http://127.0.0.1:6279/mcp" }, { isOurs: true }),
      found("mine", { command: "b" }),
      found("mcpax", { command: "c" }),
    ],
    present,
  );
  expect(left.map(({ why }) => why)).toEqual(["is here already, as mine", "is mcpx itself"]);
  expect(planned.map(({ name, takenBy }) => [name, takenBy])).toEqual([
    ["mine-2", "mine"],
    ["mcpax-2", "mcpx itself"],
  ]);
});

test.each([
  ["", []],
  ["all", [0, 1, 2, 3, 4]],
  ["1", [0]],
  ["5 1,2", [0, 1, 4]],
  ["2-4 3", [1, 2, 3]],
  ["0", undefined],
  ["6", undefined],
  ["4-2", undefined],
  ["yes", undefined],
  ["1 x", undefined],
])("the choice %j of five", (answer, expected) => {
  expect(readChoice(answer, 5)).toEqual(expected);
});
