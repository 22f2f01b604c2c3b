import { expect, test } from "vitest";
import { readRun } from "./read-run.ts";

const log = `
 \u001b[32m✓\u001b[39m system tests/a.test.ts (3 tests) 12ms
✗ [X0-3-2] a line of what a test prints
── system tests: FAILED (12 ms)

── all together: 431 s

✗ tests/rooms/resume.test.ts › resumes \u001b[31mexactly\u001b[39m (failed)
Error: Property failed after 7 tests
{ seed: -1729, path: "6:1", endOnFailure: true }

✗ tests/faults/floods.test.ts › no flood (failed)
AssertionError: with seed 42, it ended

✗ ledger

9201 passed, 3 failed
`;

test("each fault is named, with its seed where there is one", () => {
  expect(readRun(log)).toEqual({
    passed: 9_201,
    failed: 3,
    faults: [
      { name: "tests/rooms/resume.test.ts › resumes exactly (failed)", seed: "-1729" },
      { name: "tests/faults/floods.test.ts › no flood (failed)", seed: "42" },
      { name: "ledger", seed: undefined },
    ],
  });
});

test("a run without faults, and one that did not come to its end", () => {
  expect(readRun("\n9204 passed, 0 failed\n")).toEqual({ passed: 9_204, failed: 0, faults: [] });
  expect(readRun("── system tests\n a test says: 3 passed, 0 failed, and more\n")).toBeUndefined();
});
