// The public conformance suite, cell by cell; and that it would notice a server that does not conform.
import { expect, test } from "vitest";
import { scale } from "../faults/support/soak.ts";
import { cells, runCell, shortfall } from "./cells.ts";
import { runServerSuite } from "./run-suite.ts";
import { startFixture } from "./start-fixture.ts";

// Mostly waiting: side by side they take a fraction of the time.
test.concurrent.for(cells.filter(({ isCombination }) => scale(isCombination ? 0 : 1, 1) === 1))(
  "[AX-1.1-1] $name at $revision passes what the suite requires of it",
  { timeout: 400_000 },
  async (cell, { expect }) => {
    expect(shortfall(cell, await runCell(cell))).toBeUndefined();
  },
);

test("a server with one broken tool passes one scenario fewer", { timeout: 60_000 }, async () => {
  const { url, stop } = await startFixture("legacy", ["test_simple_text"]);
  try {
    const { passed, total, failed } = await runServerSuite({ url, revision: "2025-11-25" });
    expect({ passed, total }).toEqual({ passed: 29, total: 30 });
    expect(failed.map(({ scenario }) => scenario)).toEqual(["tools-call-simple-text"]);
  } finally {
    await stop();
  }
});
