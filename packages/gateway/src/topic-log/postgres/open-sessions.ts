// The two connections of the topic log, as one thing that is there or lost.
import {
  migratePostgres,
  openPostgresSession,
  type PostgresSession,
  type PostgresTuning,
  readPostgresAddress,
} from "@mcpx/host";
import { postgresTopicLogStore } from "./schema.ts";

export interface TopicLogSessions {
  readonly writing: PostgresSession;
  /** For what appends must not wait for. */
  readonly reading: PostgresSession;
  close(): Promise<void>;
}

export interface SessionOptions {
  url: string;
  /** Told again when the reason is another one. */
  onLost?: (error: Error) => void;
  /** Called when both connections are back. */
  onBack?: () => void;
  onWarning?: (warning: string) => void;
}

/** Rejects where the server cannot be used, or its tables cannot be brought up to date. */
export async function openSessions(
  { url, onLost = () => {}, onBack = () => {}, onWarning = () => {} }: SessionOptions,
  tuning: Partial<PostgresTuning>,
): Promise<TopicLogSessions> {
  const address = readPostgresAddress(url);
  await migratePostgres(address, postgresTopicLogStore);
  const lost = new Set<string>();
  const open = (name: string, warn: (warning: string) => void) =>
    openPostgresSession(address, {
      tuning,
      onWarning: warn,
      onLost: (error) => {
        lost.add(name);
        onLost(error);
      },
      onBack: () => {
        lost.delete(name);
        if (lost.size === 0) onBack();
      },
    });
  const writing = await open("writing", onWarning);
  try {
    const reading = await open("reading", () => {});
    return {
      writing,
      reading,
      close: async () => void (await Promise.all([writing.close(), reading.close()])),
    };
  } catch (error) {
    await writing.close();
    throw error;
  }
}
