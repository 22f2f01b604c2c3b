// Forward-only migrations, as in `sqlite/database.ts`: each component has a row of versions, all tables are in one
// schema. The second process waits for the lock, and finds the work done.
import type { Client } from "pg";
import type { Migration } from "../sqlite/database.ts";
import type { PostgresAddress } from "./address.ts";
import { connectPostgres, explainPostgres } from "./connect.ts";
import { sqlState } from "./fault.ts";
import { missingRights, missingRightsStatement, type RightRow } from "./missing-rights.ts";

export interface PostgresComponent {
  /** The component that owns the tables. */
  component: string;
  migrations: readonly Migration[];
}

const connectTimeoutMs = 5_000;
/** Of all programs that lock something in this database, ours alone use this class. */
const lockClass = 1_835_364_472;

/** Rejects with a plain error where the tables come from a later version, or may not be made. */
export async function migratePostgres(
  address: PostgresAddress,
  ...components: readonly PostgresComponent[]
): Promise<void> {
  const { client, end } = await connectPostgres(address, connectTimeoutMs);
  try {
    await checkRights(client, address);
    for (const wanted of components) {
      // A role without the right to make tables may use those that are there.
      if ((await versionOf(client, wanted)) < wanted.migrations.length)
        await migrate(client, address, wanted);
    }
  } catch (error) {
    if (sqlState(error) === undefined) throw error;
    throw new Error(`PostgreSQL cannot be used: ${explainPostgres(error, address)}`, { cause: error });
  } finally {
    await end();
  }
}

/** Throws where tables are there that it may not use; whether it may make some, only making them tells. */
async function checkRights(client: Client, address: PostgresAddress): Promise<void> {
  const { text } = missingRightsStatement;
  const { rows } = await client.query<RightRow>({ text, values: [address.schema], rowMode: "array" });
  const missing = missingRights(rows, address);
  if (missing === undefined) return;
  throw new Error(
    `PostgreSQL cannot be used: ${address.user} lacks a right (${missing.what}); give it: ${missing.grants}`,
  );
}

async function migrate(
  client: Client,
  { schema }: PostgresAddress,
  wanted: PostgresComponent,
): Promise<void> {
  const { component, migrations } = wanted;
  await client.query("BEGIN");
  await client.query("SELECT pg_advisory_xact_lock($1, hashtext($2))", [lockClass, schema]);
  const { rows } = await client.query("SELECT to_regnamespace($1) IS NULL AS missing", [schema]);
  if (rows[0]?.missing === true) await client.query(`CREATE SCHEMA "${schema}"`);
  await client.query(
    "CREATE TABLE IF NOT EXISTS schema_versions (component text PRIMARY KEY, version integer NOT NULL)",
  );
  // Read again: another process may have migrated while this one waited for its turn.
  const version = await versionOf(client, wanted);
  for (const { up } of migrations.slice(version)) await client.query(up);
  await client.query(
    `INSERT INTO schema_versions VALUES ($1, $2)
     ON CONFLICT (component) DO UPDATE SET version = excluded.version`,
    [component, migrations.length],
  );
  await client.query("COMMIT");
}

async function versionOf(client: Client, { component, migrations }: PostgresComponent): Promise<number> {
  const table = await client.query("SELECT to_regclass('schema_versions') IS NOT NULL AS found");
  if (table.rows[0]?.found !== true) return 0;
  const { rows } = await client.query("SELECT version FROM schema_versions WHERE component = $1", [
    component,
  ]);
  const version = Number(rows[0]?.version ?? 0);
  if (version > migrations.length) {
    throw new Error(
      `the ${component} tables in PostgreSQL are at version ${version} and this program knows only up to ` +
        `${migrations.length}; use the newer program that wrote them, or a backup from before`,
    );
  }
  return version;
}
