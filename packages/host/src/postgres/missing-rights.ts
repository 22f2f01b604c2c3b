// What a role may not do in a schema whose tables another role has made, and the grants that would let it.
import type { PostgresAddress } from "./address.ts";
import type { Statement } from "./run-statement.ts";

export type RightRow = [right: string, kind: "SCHEMA" | "TABLE" | "SEQUENCE", name: string];

/** Of the tables that were made with ours; none where there are none yet. `$1` is the schema. */
export const missingRightsStatement: Statement = {
  name: "missing-rights",
  text: `
    WITH place AS MATERIALIZED (SELECT oid FROM pg_namespace WHERE nspname = $1),
    ours AS MATERIALIZED (
      SELECT c.oid, relname, relkind FROM pg_class AS c, place WHERE relnamespace = place.oid AND relowner =
        (SELECT relowner FROM pg_class WHERE relnamespace = place.oid AND relname = 'schema_versions'))
    SELECT 'USAGE', 'SCHEMA', $1::text FROM place WHERE NOT has_schema_privilege(oid, 'USAGE')
    UNION ALL SELECT right_, 'TABLE', relname::text
      FROM ours, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS right_
      WHERE relkind IN ('r', 'p') AND NOT has_table_privilege(oid, right_)
    UNION ALL SELECT 'USAGE', 'SEQUENCE', relname::text FROM ours
      WHERE CASE relkind WHEN 'S' THEN NOT has_sequence_privilege(oid, 'USAGE') ELSE false END`,
};

export interface MissingRights {
  what: string;
  /** SQL. */
  grants: string;
}

/** `undefined` where nothing is. */
export function missingRights(
  rows: readonly RightRow[],
  { schema, user }: Pick<PostgresAddress, "schema" | "user">,
): MissingRights | undefined {
  const [first, ...more] = rows.map(([right, kind, name]) => `${right} on ${kind.toLowerCase()} ${name}`);
  if (first === undefined) return undefined;
  const grants = [...Map.groupBy(rows, ([, kind]) => kind)].map(([kind, ofKind]) => {
    const rights = [...new Set(ofKind.map(([right]) => right))].join(", ");
    const where = kind === "SCHEMA" ? `SCHEMA ${schema}` : `ALL ${kind}S IN SCHEMA ${schema}`;
    return `GRANT ${rights} ON ${where} TO ${user}`;
  });
  const what = more.length === 0 ? first : `${first} and ${more.length} more`;
  return { what, grants: grants.join("; ") };
}
