// What a gateway stores: every table of its two stores has a row in docs/LIMITS.md that says who can make it grow, what
// bounds that, and how long it is kept.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { defaultLimits } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { startTestServer } from "./support/test-server.ts";

interface Row {
  store: string;
  table: string;
  growsBy: string;
  boundedBy: string;
  kept: string;
}

function documented(): Row[] {
  const page = readFileSync(new URL("../docs/LIMITS.md", import.meta.url), "utf8");
  const lines = page.slice(page.indexOf("## On disk")).split("\n");
  return lines
    .filter((line) => /^\| `[a-z]+\.db` \|/.test(line))
    .map((line) => {
      const [store, table, growsBy, boundedBy, kept] = line
        .slice(1, -1)
        .split("|")
        .map((cell) => cell.trim());
      const plain = (text = "") => text.replaceAll("`", "");
      return {
        store: plain(store),
        table: plain(table),
        growsBy: growsBy ?? "",
        boundedBy: boundedBy ?? "",
        kept: kept ?? "",
      };
    });
}

function tablesOf(dataDir: string, store: string): string[] {
  const db = new DatabaseSync(join(dataDir, store), { readOnly: true });
  try {
    const sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
    return db
      .prepare(sql)
      .all()
      .map(({ name }) => `${store} ${name}`);
  } finally {
    db.close();
  }
}

test("every table has a row that says who makes it grow, and what ends that", async () => {
  const server = await startTestServer();
  try {
    const tables = ["state.db", "topics.db"].flatMap((store) => tablesOf(server.dataDir, store));
    const rows = documented();
    expect(rows.map(({ store, table }) => `${store} ${table}`).sort()).toEqual(tables.sort());
    for (const row of rows) for (const cell of Object.values(row)) expect(cell, row.table).not.toBe("");
  } finally {
    await server.stop();
  }
});

test("the limits that bound them are limits", () => {
  const named = documented().flatMap(({ boundedBy, kept }) =>
    [...`${boundedBy} ${kept}`.matchAll(/`([a-zA-Z]+(?:Max|Ms|PerMinute|PerSecondFull))`/g)].map(
      ([, name]) => name,
    ),
  );
  expect(named.length).toBeGreaterThan(10);
  for (const name of named) expect(Object.keys(defaultLimits)).toContain(name);
});
