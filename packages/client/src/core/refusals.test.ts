import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { refusals } from "./refusals.ts";

test("docs/ERRORS.md lists every refusal of a participant, with its number", () => {
  const page = readFileSync(new URL("../../../../docs/ERRORS.md", import.meta.url), "utf8");
  const [, section = ""] = page.split("### A participant's own\n");
  const rows = (section.split("\n#")[0] ?? "").matchAll(/^\| `(\w+)` \| (-?\d+) \|/gm);
  expect([...rows].map(([, reason, code]) => [reason, Number(code)])).toEqual(Object.entries(refusals));
});
