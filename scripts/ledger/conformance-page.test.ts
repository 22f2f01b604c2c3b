import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type ConformanceRow, conformancePage } from "./conformance-page.ts";

const row = (id: string, more: Partial<ConformanceRow> = {}): ConformanceRow => ({
  id,
  level: "M",
  text: `text of ${id}`,
  decision: `decision of ${id}`,
  part: "gateway",
  ...more,
});

const page = conformancePage(
  [
    row("X0-3-1"),
    row("X0-3-2", { differs: "We do another thing." }),
    row("X0-4.1-1"),
    row("X0-11-1", { level: "N" }),
    row("AX-B-1", { part: "cluster", differs: "never read" }),
    row("AC-1-1", { text: "this | that" }),
  ],
  { cluster: "comes second" },
  ["X0-4.1-1"],
);

test("each row says in which state it is and why", () => {
  expect(page).toContain("| X0-3-1 | text of X0-3-1 | as written | decision of X0-3-1 |");
  expect(page).toContain("| X0-3-2 | text of X0-3-2 | **differs** | We do another thing. |");
  expect(page).toContain("| X0-4.1-1 | text of X0-4.1-1 | **not shown** | decision of X0-4.1-1 |");
  expect(page).toContain("| X0-11-1 | text of X0-11-1 | **not built** | decision of X0-11-1 |");
  expect(page).toContain("| AX-B-1 | text of AX-B-1 | **not built** | Comes second. |");
  expect(page).toContain("| AC-1-1 | this \\| that | as written |");
});

test("a summary counts each document, and sections have the numbers of the document", () => {
  expect(page).toContain("| [MCPx v0](#mcpx-v0) | 4 | 1 | 1 | 1 | 1 |");
  expect(page).toContain("| [MCP-AX, Internet-Draft](#mcp-ax-internet-draft) | 1 | 0 | 0 | 0 | 1 |");
  const headings = page.split("\n").filter((line) => line.startsWith("### "));
  expect(headings).toEqual([
    "### §3 Topics, and who sees what",
    "### §4.1 MCP inside an envelope",
    "### §11 Other transports",
    "### Part 1: An owner declares who may call what",
    "### Appendix B: firmware profiles",
  ]);
});

test("a section without a title is a fault of the table", () => {
  expect(() => conformancePage([row("X0-99-1")], {}, [])).toThrow("section 99 of MCPx v0 has no title");
});

test("every section of the ledger has a title", () => {
  const rows = JSON.parse(readFileSync(new URL("../../spec/ledger.json", import.meta.url), "utf8"));
  expect(() => conformancePage(rows, {}, [])).not.toThrow();
});
