// The model of who owns a topic, checked in all its states by spin; and that it can fail: each of its broken rules does.
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";

const run = promisify(execFile);
const model = resolve("spec/models/topic-ownership.pml");

/** What the checker prints of the model with one of its rules broken, or with none. */
async function check(brokenRule?: string): Promise<string> {
  const cwd = await mkdtemp(join(tmpdir(), "mcpx-model-"));
  onTestFinished(() => rm(cwd, { recursive: true }));
  await run("spin", [...(brokenRule === undefined ? [] : [`-D${brokenRule}`]), "-a", model], { cwd });
  await run("gcc", ["-O1", "-DSAFETY", "-DMEMLIM=1024", "-o", "checker", "pan.c"], { cwd });
  const { stdout } = await run("./checker", ["-m10000"], { cwd });
  return stdout;
}

test("one topic over two gateways keeps its promises in every state the model can reach", async () => {
  const printed = await check();
  expect(printed).toContain("errors: 0");
  // A search that stopped early would have found nothing either.
  expect(printed).not.toMatch(/max search depth too small|out of memory|memory limit/);
  expect(Number(/([\d.e+]+) states, stored/.exec(printed)?.[1])).toBeGreaterThan(1_000_000);
});

test.each([
  ["NO_FENCE", "entry"],
  ["NO_BUMP", "owner==me"],
  ["DELIVER_FIRST", "seen"],
])("with the rule %s broken it does not", async (brokenRule, about) => {
  const printed = await check(brokenRule);
  expect(printed).toContain("errors: 1");
  expect(printed.split("\n").find((line) => line.includes("assertion violated"))).toContain(about);
});
