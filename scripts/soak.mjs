// The long versions of the fault tests. Arguments are handed on: `npm run soak -- power-cut`.
import { spawnSync } from "node:child_process";

const { status } = spawnSync(
  "vitest",
  ["run", "--project", "system", "tests/faults", ...process.argv.slice(2)],
  {
    env: { ...process.env, MCPX_SOAK: "1" },
    stdio: ["ignore", "inherit", "inherit"],
  },
);
process.exitCode = status ?? 1;
