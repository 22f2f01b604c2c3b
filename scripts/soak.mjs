// `npm run soak [-- power-cut tree/life …]`: the long versions of tests, all of them or those named.
import { spawnSync } from "node:child_process";

const named = process.argv.slice(2);
const all = [
  "tests/bridges/ejabberd",
  "tests/bridges/synapse",
  "tests/conformance/conformance",
  "tests/console/firefox",
  "tests/faults",
  "tests/postgres",
  "tests/tree/life",
  "tests/packaging/engines",
  "tests/packaging/first-start",
  "tests/packaging/image",
  "tests/metrics/promtool",
  "tests/firmware/cores",
  "packages/devices/src/fuzz",
];
const files = named.length === 0 ? all : named;
const { status } = spawnSync(
  "vitest",
  ["run", "--project", "system", "--project", "in-process", "--project", "unit", ...files],
  {
    env: { ...process.env, MCPX_SOAK: "1" },
    stdio: ["ignore", "inherit", "inherit"],
  },
);
process.exitCode = status ?? 1;
