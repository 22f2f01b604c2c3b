import { defineConfig } from "vitest/config";

const conditions = ["mcpx-source", "node", "import", "module", "default"];

/** Beside its source, but it starts threads and processes and fills disks: too slow for `npm run check`. */
const slow = ["packages/gateway/src/topic-log-sqlite.test.ts"];

/** Tests with listeners and stores of their own, cleaned up by hooks of their file. */
const stateful = ["packages/host/src/**/*.test.ts"];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    // They end what hangs; how fast a machine is, is not what a test judges.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    expect: { poll: { timeout: 15_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["packages/*/src/**/*.test.ts", "scripts/**/*.test.ts"],
          exclude: [...slow, ...stateful],
          // Pure code needs no fresh world per file: three times as fast.
          isolate: false,
        },
      },
      { extends: true, test: { name: "host", include: stateful } },
      {
        extends: true,
        test: {
          name: "system",
          include: ["tests/**/*.test.ts", ...slow],
        },
      },
    ],
  },
});
