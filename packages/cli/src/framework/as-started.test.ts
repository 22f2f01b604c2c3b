import { expect, test } from "vitest";
import { asStarted } from "./as-started.ts";

test("commands in a hint begin as the program was started; other uses of its name stay", () => {
  const known = ["up", "tools"];
  const hint = "see mcpx tools diff NAME, or `mcpx up`; mcpx would need it in ~/mcpx up to then";
  expect(asStarted(hint, "npx mcpx", known)).toBe(
    "see npx mcpx tools diff NAME, or `npx mcpx up`; mcpx would need it in ~/mcpx up to then",
  );
  expect(asStarted(asStarted(hint, "npx mcpx", known), "npx mcpx", known)).toContain("see npx mcpx tools");
  expect(asStarted(hint, "mcpx", known)).toBe(hint);
});
