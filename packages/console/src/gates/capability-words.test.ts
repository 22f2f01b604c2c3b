import { cautious } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { dangersOf, whyText } from "./capability-words.ts";

test("what a tool does not say is said to be assumed", () => {
  expect(dangersOf(cautious, "unannotated").map(({ text }) => text)).toEqual([
    "Assumed: no trusted annotation",
    "Irreversible",
    "Not idempotent",
    "Costs money",
  ]);
  expect(dangersOf(cautious, "irreversible")[0]?.text).toBe("Irreversible");
  expect(whyText("unannotated")).toBe("No trusted annotation says how dangerous the tool is");
});
