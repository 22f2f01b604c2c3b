// System tests of rooms, gates, tree and access that were written for gateways on SQLite run a second time, unchanged,
// on PostgreSQL: a part of them here, all that do not look into the files in `npm run soak -- postgres`.
import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, expect, test } from "vitest";
import { startPostgres } from "../support/postgres-server.ts";

const server = await startPostgres();
afterAll(() => server[Symbol.asyncDispose]());

const chosen = ["tests/rooms/levels.test.ts", "tests/gates/grants.test.ts", "tests/tree/search.test.ts"];
const all = ["tests/rooms/", "tests/gates/", "tests/tree/credentials/", "tests/tree/search", "tests/access/"];
/** They open `state.db` or `topics.db` themselves: what they judge is that file. */
const aboutFiles = [
  "tests/rooms/{audit,connect,history-off,resume,retention}.test.ts",
  "tests/{gates/{chain,held},access/admin}.test.ts",
];
const vitest = join(dirname(dirname(import.meta.dirname)), "node_modules", "vitest", "vitest.mjs");
const isSoak = process.env.MCPX_SOAK === "1";

test("[B-SCALE-1] tests of gateways on SQLite hold for gateways on PostgreSQL", {
  timeout: isSoak ? 1_800_000 : 180_000,
}, async () => {
  const words = ["run", "--project", "in-process", ...(isSoak ? all : chosen)];
  const apart = aboutFiles.flatMap((path) => ["--exclude", path]);
  const own = Object.entries(process.env).filter(([name]) => !/^(VITEST|MCPX_SOAK|NODE_OPTIONS)/.test(name));
  const child = spawn(process.execPath, [vitest, ...words, ...apart], {
    env: { ...Object.fromEntries(own), MCPX_TEST_STORE: server.url("second").replace("&schema=second", "") },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const [said, complained, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  expect(code, `${said.slice(-4_000)}${complained.slice(-4_000)}`).toBe(0);
  // Control: they had their state there.
  const [schemas] = await server.sql(
    "SELECT count(*)::int AS count FROM pg_namespace WHERE nspname ~ '^t[0-9a-f]{16}$'",
  );
  expect(schemas?.count).toBeGreaterThan(5);
});
