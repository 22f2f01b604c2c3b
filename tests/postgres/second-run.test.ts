// System tests of rooms, gates, tree and access that were written for gateways on SQLite run a second time, unchanged,
// on PostgreSQL: a part of them here, all that do not look into the files in `npm run soak -- postgres`.
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { afterAll, expect, test } from "vitest";
import { startPostgres } from "../support/postgres-server.ts";

const server = await startPostgres();
afterAll(() => server[Symbol.asyncDispose]());

const chosen = [
  "tests/rooms/levels.test.ts",
  "tests/gates/grants.test.ts",
  "tests/tree/search.test.ts",
  "tests/access/life.test.ts",
];
const all = ["tests/rooms/", "tests/gates/", "tests/tree/credentials/", "tests/tree/search", "tests/access/"];
/** They open `state.db` or `topics.db` themselves: what they judge is that file. */
const aboutFiles = [
  "tests/rooms/{audit,connect,resume,retention}.test.ts",
  "tests/{gates/{chain,held},access/admin}.test.ts",
];
const isSoak = process.env.MCPX_SOAK === "1";

test("[B-SCALE-1] tests of gateways on SQLite hold for gateways on PostgreSQL", {
  timeout: isSoak ? 1_800_000 : 180_000,
}, async () => {
  const words = ["vitest", "run", "--project", "in-process", "--reporter=json", ...(isSoak ? all : chosen)];
  const { store, schema } = { store: server.url("second"), schema: "&schema=second" };
  const child = spawn("npx", [...words, ...aboutFiles.flatMap((path) => ["--exclude", path])], {
    env: { ...process.env, MCPX_SOAK: "", MCPX_TEST_STORE: store.replace(schema, "") },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const said = await text(child.stdout);
  await ended;
  const report = JSON.parse(said.slice(said.indexOf("{"))) as {
    numPassedTests: number;
    testResults: { name: string; assertionResults: { status: string; fullName: string }[] }[];
  };
  const failed = report.testResults.flatMap(({ assertionResults }) =>
    assertionResults.filter(({ status }) => status === "failed").map(({ fullName }) => fullName),
  );
  expect(failed).toEqual([]);
  expect(report.numPassedTests).toBeGreaterThan(20);
  // Control: they had their state there.
  const [schemas] = await server.sql(
    "SELECT count(*)::int AS count FROM pg_namespace WHERE nspname ~ '^t[0-9a-f]{16}$'",
  );
  expect(schemas?.count).toBeGreaterThan(5);
});
