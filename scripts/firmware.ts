// `npm run firmware [-- --json] [-- TARGET…]`: builds every board's firmware, runs it in its emulator to see how much
// stack it takes, prints the sizes and fails where a budget is broken. [AX-B-2]
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildTarget } from "./firmware/build.ts";
import { measureStack } from "./firmware/measure-stack.ts";
import { overBudget, type Sizes, targets } from "./firmware/targets.ts";

const names = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const unknown = names.filter((name) => !targets.some((target) => target.name === name));
if (unknown.length > 0) {
  const known = targets.map(({ name }) => name).join(", ");
  process.stderr.write(`firmware: no target ${unknown.join(", ")}; there are ${known}\n`);
  process.exit(2);
}

const directory = await mkdtemp(join(tmpdir(), "mcpx-firmware-"));
const measured: Record<string, Sizes & { stack: number }> = {};
try {
  for (const target of targets.filter(({ name }) => names.length === 0 || names.includes(name))) {
    const image = await buildTarget(target, directory);
    measured[target.name] = { ...image.sizes, stack: await measureStack(image, directory) };
    for (const broken of overBudget(target, image.sizes)) {
      process.stderr.write(`firmware: ${target.name}: ${broken}\n`);
      process.exitCode = 1;
    }
  }
} finally {
  await rm(directory, { recursive: true, force: true });
}

if (process.argv.includes("--json")) process.stdout.write(`${JSON.stringify({ targets: measured })}\n`);
else {
  const columns = ["core", "image", "tables", "ram", "stack"] as const;
  const rows = Object.entries(measured).map(([name, sizes]) => [name, ...columns.map((one) => sizes[one])]);
  for (const [name, ...cells] of [["bytes", ...columns], ...rows]) {
    process.stdout.write(
      `${String(name).padEnd(18)}${cells.map((cell) => String(cell).padStart(8)).join("")}\n`,
    );
  }
}
