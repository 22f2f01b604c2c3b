// The programs the tests start over and over: each from its sources or, where `npm test` has put them together with what
// they import (bundle-programs.ts), from there, which takes a third of the time.
import { join } from "node:path";

const root = join(import.meta.dirname, "..", "..");

/** Where the bundles lie, if there are any. */
const bundlesHere = process.env.MCPX_TEST_BUNDLES;

/** From the root of the repository. */
export const bundledPrograms = [
  "packages/aggregator/src/links/reaper.ts",
  "packages/cli/src/main.ts",
  "packages/cli/src/testing/run-mcpx.ts",
  "packages/gateway/src/topic-log/checkpointer.ts",
  "packages/gateway/src/topic-log/writer.ts",
  "tests/cli/support/recipes-server.ts",
  "tests/clients/support/clock-app.ts",
  "tests/clients/support/desk-server.ts",
  "tests/cli/support/tiny-server.ts",
  "tests/conformance/fixture/main.ts",
  "tests/faults/support/serve.ts",
  "tests/faults/tree/support/leaf.ts",
  "tests/faults/tree/support/stdio-worker.ts",
  "tests/gates/attacks/support/vault.ts",
  "tests/gates/support/archive.ts",
  "tests/gates/support/guard.ts",
  "tests/gates/support/clerk.ts",
  "tests/gates/support/shredder.ts",
  "tests/tree/life/support/owner.ts",
  "tests/tree/life/support/talkative-server.ts",
  "tests/tree/links/support/owner.ts",
  "tests/tree/pins/support/changing-server.ts",
  "tests/tree/support/asking-server.ts",
  "tests/tree/support/serve-tree.ts",
] as const;

export type Program = (typeof bundledPrograms)[number];

export function programPath(source: Program, bundles = bundlesHere): string {
  return bundles === undefined ? join(root, source) : join(bundles, `${entryName(source)}.js`);
}

/** What `node` is given to start a program that imports packages of ours; its own arguments come after it. */
export function programArgs(source: Program, bundles?: string): [string, string] {
  return ["--conditions=mcpx-source", programPath(source, bundles)];
}

/** What a program exports, for tests that run in their own process what it does. */
export function loadProgram(source: Program): Promise<unknown> {
  const path =
    bundlesHere === undefined ? join(root, source) : join(bundlesHere, `${entryName(source)}.program.js`);
  return import(/* @vite-ignore */ path);
}

export function entryName(source: Program): string {
  return source.slice(0, -".ts".length);
}

/** `mcpx` without the launcher, which only finds a Node for it. */
export const mcpxCommand: readonly [string, ...string[]] = [
  process.execPath,
  ...programArgs("packages/cli/src/main.ts"),
];
