import { cautious } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { dangersOf, whyText } from "./capability-words.ts";

test("what a tool does not say is said to be assumed", () => {
  expect(dangersOf(cautious, "unannotated").map(({ text }) => text)).toEqual([
    "Assumed, since it says nothing that is believed",
    "Cannot be undone",
    "Twice is not the same as once",
    "May cost something",
  ]);
  expect(dangersOf(cautious, "irreversible")[0]?.text).toBe("Cannot be undone");
  expect(whyText("unannotated")).toBe("The tool says nothing of its danger that is believed");
});
