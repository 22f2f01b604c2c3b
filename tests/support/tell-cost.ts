// Loaded before each test file where `npm test` wants to know what it costs: at its end a line in a file says how much
// CPU it and its children had meanwhile. Children count once they were waited for.
import { appendFileSync, readFileSync } from "node:fs";
import { afterAll, expect } from "vitest";

const msPerTick = 10;

/** Nothing where the system has no /proc. */
function cpuMs(): number | undefined {
  try {
    const fields = readFileSync("/proc/self/stat", "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * msPerTick;
  } catch {
    return undefined;
  }
}

const before = cpuMs();

afterAll(() => {
  const after = cpuMs();
  const path = process.env.MCPX_TEST_COSTS;
  if (before === undefined || after === undefined || path === undefined) return;
  const told = { file: expect.getState().testPath, cpuMs: after - before };
  appendFileSync(path, `${JSON.stringify(told)}\n`);
});
