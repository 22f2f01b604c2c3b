import { expect, test } from "vitest";
import { showLines } from "./tool-lines.ts";

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
