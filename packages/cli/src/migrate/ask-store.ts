// A statement of a migration: its operator is told what PostgreSQL says, where callers of a gateway would not be.
import { PostgresFault, type PostgresSession, type Statement } from "@mcpx/host";
import { Failure } from "../framework/failure.ts";

export async function askStore<Row extends unknown[]>(
  session: PostgresSession,
  statement: Statement,
  values: readonly (string | number | Buffer | null)[] = [],
): Promise<Row[]> {
  try {
    return await session.query<Row>(statement, values);
  } catch (error) {
    if (!(error instanceof PostgresFault)) throw error;
    const fix =
      error.kind === "full" ? "make room there, then type the same again" : "type the same again: it goes on";
    throw new Failure(`PostgreSQL: ${error.message} (at ${statement.name})`, fix, { cause: error });
  }
}
