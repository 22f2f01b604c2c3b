import { expect, test } from "vitest";
import { listLines, showLines, type ToolRow } from "./tool-lines.ts";

const tool = (annotations: object | undefined, mutable: boolean, reversible = !mutable) => ({
  name: "files.read",
  ...(annotations && { annotations }),
  _meta: { "x-mcpax-capability": { mutable, reversible } },
});
const hintsOf = (one: ReturnType<typeof tool>) =>
  showLines(one, { name: "files" }).filter((line) => line.startsWith("hints"));

test("hints that make a tool look harmless and are not believed are shown as such", () => {
  const doubted = ["hints (not believed here; see --trusted of mcpx add)"];
  expect(hintsOf(tool({ readOnlyHint: true }, true))).toEqual(doubted);
  expect(hintsOf(tool({ destructiveHint: false }, true))).toEqual(doubted);
  expect(hintsOf(tool({ readOnlyHint: true }, false))).toEqual(["hints"]);
  expect(hintsOf(tool({ destructiveHint: false }, true, true))).toEqual(["hints"]);
  expect(hintsOf(tool({ destructiveHint: true }, true))).toEqual(["hints"]);
  expect(hintsOf(tool(undefined, true))).toEqual([]);
});

test("a description has the room that the terminal leaves it", () => {
  const row: ToolRow = {
    name: "files.read",
    server: "files",
    danger: "none",
    latency: "",
    description: `${"long ".repeat(60)}\nsecond line`,
    state: "listed",
    warnings: 0,
  };
  for (const width of [70, 120, 200]) expect(listLines([row], width)[0]).toHaveLength(width);
  expect(listLines([{ ...row, description: "short" }], 200)[0]).toMatch(/ short$/);
});
