import { defineConfig } from "vitest/config";

const conditions = ["mcpx-source", "node", "import", "module", "default"];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    projects: [
      {
        extends: true,
        test: { name: "unit", include: ["packages/*/src/**/*.test.ts", "scripts/**/*.test.ts"] },
      },
      {
        extends: true,
        test: { name: "system", include: ["tests/**/*.test.ts"], testTimeout: 30_000, hookTimeout: 30_000 },
      },
    ],
  },
});
