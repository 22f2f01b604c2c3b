import { resolve } from "node:path";
import { expect, test } from "vitest";
import { costTable, fileCosts } from "./file-costs.ts";

const result = (name: string, startTime: number, endTime: number) => ({
  name: resolve(name),
  startTime,
  endTime,
});
const report = { testResults: [result("a.test.ts", 100, 1_600), result("b.test.ts", 0, 20_000)] };
const told = `{"file":${JSON.stringify(resolve("b.test.ts"))},"cpuMs":2500}\n`;

test("a file's time is the runner's, its CPU what it told itself, if it did", () => {
  expect(fileCosts(report, told)).toEqual([
    { file: "a.test.ts", wallMs: 1_500, cpuMs: undefined },
    { file: "b.test.ts", wallMs: 20_000, cpuMs: 2_500 },
  ]);
});

test("the most expensive come first, and the sum is of all", () => {
  const lines = costTable(fileCosts(report, told), 1).split("\n").slice(1);
  expect(lines).toEqual(["  20.0 s    2.5 s b.test.ts", "  21.5 s    2.5 s all 2 files"]);
  expect(costTable(fileCosts(report, "")).split("\n").at(-1)).toBe("  21.5 s        – all 2 files");
});
