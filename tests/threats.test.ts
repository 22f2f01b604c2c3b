// docs/THREATS.md names a test for every line but those that say that nothing helps: each is there, with that title.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const page = readFileSync(join(root, "docs/THREATS.md"), "utf8");

interface Line {
  cells: string[];
  shownBy: string;
}

/** Rows of tables whose last column is a test. */
function lines(): Line[] {
  return page
    .split(/\n(?=\|)|\n\n/)
    .filter((row) => row.startsWith("| ") && !row.startsWith("|-"))
    .map((row) =>
      row
        .trim()
        .slice(1, -1)
        .split(" | ")
        .map((cell) => cell.trim()),
    )
    .map((cells) => ({ cells: cells.slice(0, -1), shownBy: cells.at(-1) ?? "" }))
    .filter(({ shownBy }) => shownBy.startsWith("`") || shownBy === "–")
    .filter(({ cells }) => !cells[0]?.startsWith("*"));
}

/** Why a line is not shown; nothing where it is. */
function faultOf({ cells, shownBy }: Line): string | undefined {
  if (shownBy === "–") {
    return cells.slice(1).every((cell) => cell.startsWith("neither")) ? undefined : `${cells[0]}: no test`;
  }
  const [, file = "", title = ""] = /^`([^`]+)`: (.+)$/.exec(shownBy) ?? [];
  if (!existsSync(join(root, file))) return `${file} is not there`;
  return readFileSync(join(root, file), "utf8").includes(title)
    ? undefined
    : `${file} has no test “${title}”`;
}

test("[B-KEY-1] every line of the page of threats is shown by a test that is there", () => {
  const all = lines();
  expect(all.length).toBeGreaterThan(25);
  expect(all.map(faultOf).filter((fault) => fault !== undefined)).toEqual([]);
});

test("[B-KEY-1] every idea of an agent with a shell says for each set-up whether it is stopped, seen, or neither", () => {
  const [, table = ""] = page.split("| the agent's idea | plain | sealed | own user |");
  const rows = (table.split("\n\n")[0] ?? "").split("\n").filter((row) => row.startsWith("| "));
  expect(rows.length).toBeGreaterThanOrEqual(30);
  const faults = rows.filter((row) => {
    const setUps = row.slice(2).split(" | ").slice(1, 4);
    return setUps.length < 3 || !setUps.every((text) => /^(stopped|seen|neither)/.test(text));
  });
  // The first is the rest of the table's head.
  expect(faults.filter((row) => !row.includes("shown by"))).toEqual([]);
});

test("control: a line without its test, and one whose test is called otherwise, are found", () => {
  const [first] = lines();
  expect(faultOf({ cells: ["x", "stopped"], shownBy: "–" })).toContain("no test");
  expect(faultOf({ cells: ["x"], shownBy: "`tests/nowhere.test.ts`: x" })).toContain("is not there");
  expect(faultOf({ cells: ["x"], shownBy: `${first?.shownBy} otherwise` })).toContain("has no test");
});
