// One statement on one connection: its rows, or what became of it.
import type { PostgresConnection } from "./connect.ts";
import { faultKind, PostgresFault } from "./fault.ts";

/** Prepared once on each connection, under its name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** Buffers are sent as they are: see `binary-array.ts`. */
export type StatementValue = string | number | Buffer | null;

/** Rows as arrays. No other statement may be under way. Rejects with a `PostgresFault`. */
export async function runStatement<Row extends unknown[]>(
  { client, cut, takeNotices }: PostgresConnection,
  { name, text }: Statement,
  values: readonly StatementValue[],
  timeoutMs: number,
): Promise<Row[]> {
  takeNotices();
  // Never a cancel request: it would end the wait for a standby as if that had answered.
  const late = setTimeout(cut, timeoutMs);
  try {
    const { rows } = await client.query<Row>({ name, text, values: [...values], rowMode: "array" });
    const notices = takeNotices();
    if (notices.length > 0) throw new PostgresFault("doubtful", notices.join("; "));
    return rows;
  } catch (error) {
    if (error instanceof PostgresFault) throw error;
    throw new PostgresFault(faultKind(error), String(error), { cause: error });
  } finally {
    clearTimeout(late);
  }
}
