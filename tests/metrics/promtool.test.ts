// The rules for alerts, judged by Prometheus' own tool: only for `npm run soak`, which installs it.
import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { scratch, up } from "../cli/support/mcpx-process.ts";

const folder = join(dirname(dirname(import.meta.dirname)), "deploy", "prometheus");
const promtool = (args: string[], input = "") =>
  execFileSync("promtool", args, { cwd: folder, input, encoding: "utf8" });

test("the rules are rules, and alert when they should", () => {
  expect(promtool(["check", "config", "--syntax-only", "prometheus.yml"])).toContain("SUCCESS");
  expect(promtool(["check", "rules", "mcpx-rules.yml"])).toContain("SUCCESS");
  expect(promtool(["test", "rules", "mcpx-rules-test.yml"])).toContain("SUCCESS");
});

test("what a gateway shows is in the format, and named as Prometheus recommends", async () => {
  const gateway = await up(scratch());
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  // It says nothing where it has nothing to complain about, but for names that the library itself gives.
  const complaints = spoken(() => promtool(["check", "metrics"], text)).filter(
    (line) => !line.includes("_nodejs_"),
  );
  expect(complaints).toEqual([]);
});

/** Of a tool that fails where it complains. */
function spoken(run: () => string): string[] {
  try {
    return run().split("\n").filter(Boolean);
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    return `${stdout}\n${stderr}`.split("\n").filter(Boolean);
  }
}
