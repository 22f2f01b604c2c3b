// A connection that comes back by itself. Statements run one after the other; one that the connection did not survive
// is not sent again: what became of it is for its caller to find out.
import { setTimeout as pause } from "node:timers/promises";
import { backoffMs } from "@mcpx/protocol";
import type { PostgresAddress } from "./address.ts";
import { connectPostgres, type PostgresConnection } from "./connect.ts";
import { endsConnection, PostgresFault } from "./fault.ts";
import { runStatement, type Statement, type StatementValue } from "./run-statement.ts";

export interface PostgresSession {
  /** Rows as arrays. Rejects with a `PostgresFault`. */
  query<Row extends unknown[]>(statement: Statement, values?: readonly StatementValue[]): Promise<Row[]>;
  /** Finishes what was asked for. */
  close(): Promise<void>;
}

export interface PostgresSessionOptions {
  /** The connection is gone, or its server takes no more writes. Told again when the reason is another one. */
  onLost?: (error: Error) => void;
  onBack?: () => void;
  /** Of a server that was connected to. */
  onWarning?: (warning: string) => void;
  tuning?: Partial<PostgresTuning>;
}

export interface PostgresTuning {
  connectTimeoutMs: number;
  /** How long a statement may take. A commit that waits for a standby is one, so this is longer than most failovers. */
  answerTimeoutMs: number;
  retryMinMs: number;
  retryMaxMs: number;
}

const defaultTuning: PostgresTuning = {
  connectTimeoutMs: 5_000,
  answerTimeoutMs: 30_000,
  retryMinMs: 100,
  retryMaxMs: 2_000,
};

/** Rejects where no server can be used; from then on it waits for one. */
export async function openPostgresSession(
  address: PostgresAddress,
  options: PostgresSessionOptions = {},
): Promise<PostgresSession> {
  const { onLost = () => {}, onBack = () => {}, onWarning = () => {} } = options;
  const tuning = { ...defaultTuning, ...options.tuning };
  const closing = new AbortController();
  let connection: PostgresConnection | undefined;
  let queue: Promise<unknown> = Promise.resolve();

  function take(opened: PostgresConnection): void {
    connection = opened;
    for (const warning of opened.warnings) onWarning(warning);
    void opened.ended.then(() => lose(opened, new Error("the connection to PostgreSQL was lost")));
  }

  function lose(lost: PostgresConnection, error: Error): void {
    if (connection !== lost) return;
    connection = undefined;
    lost.cut();
    if (closing.signal.aborted) return;
    onLost(error);
    void comeBack();
  }

  async function comeBack(): Promise<void> {
    const opened = await connectEventually(address, tuning, closing.signal, onLost);
    if (opened === undefined) return;
    if (closing.signal.aborted) return opened.end();
    take(opened);
    onBack();
  }

  async function send<Row extends unknown[]>(
    statement: Statement,
    values: readonly StatementValue[],
  ): Promise<Row[]> {
    const used = connection;
    if (used === undefined) throw new PostgresFault("unsent", "there is no connection to PostgreSQL");
    try {
      return await runStatement<Row>(used, statement, values, tuning.answerTimeoutMs);
    } catch (error) {
      if (error instanceof PostgresFault && endsConnection(error)) lose(used, error);
      throw error;
    }
  }

  take(await connectPostgres(address, tuning.connectTimeoutMs));
  return {
    query: <Row extends unknown[]>(statement: Statement, values: readonly StatementValue[] = []) => {
      const answer = queue.then(() => send<Row>(statement, values));
      queue = answer.catch(() => {});
      return answer;
    },
    close: async () => {
      await queue;
      closing.abort();
      await connection?.end();
    },
  };
}

/**
 * Tries until it is connected, or told to stop. `onRefused` is told of every reason that is not that of the last time.
 */
async function connectEventually(
  address: PostgresAddress,
  { connectTimeoutMs, retryMinMs: minMs, retryMaxMs: maxMs }: PostgresTuning,
  signal: AbortSignal,
  onRefused: (error: Error) => void,
): Promise<PostgresConnection | undefined> {
  let told = "";
  for (let attempt = 0; !signal.aborted; attempt += 1) {
    // Rejects only when it is told to stop, which the loop sees.
    await pause(backoffMs(attempt, { minMs, maxMs }, Math.random()), undefined, { signal }).catch(() => {});
    if (signal.aborted) break;
    const opened = await connectPostgres(address, connectTimeoutMs).catch((error: Error) => {
      if (error.message !== told) onRefused(error);
      told = error.message;
    });
    if (opened !== undefined) return opened;
  }
  return undefined;
}
