// A change of the servers is made: exactly the one that was shown, on record, and taken over at once.
import type { Audit, AuditEvent } from "@mcpx/host";
import { type JsonObject, McpxError } from "@mcpx/protocol";
import { type SavedConfig, type ServerEntry, saveConfig } from "../../edit-config.ts";
import { forgetPins } from "../../forget-pins.ts";
import { hideSecrets, secretsOf } from "../../secrets.ts";
import type { Configuration } from "./configuration.ts";
import { digestOf, type Plan, planChange } from "./plan-change.ts";
import type { Change } from "./read-change.ts";

export interface Desk {
  configuration: Configuration;
  audit: Audit;
  actor: string;
}

const wordsMax = 50;
const wordCharsMax = 500;

/** `digest` is of what was shown; throws where it would be another change now. */
export async function makeChange(desk: Desk, change: Change, digest: unknown): Promise<JsonObject> {
  const { configuration, audit, actor } = desk;
  const plan = planChange(configuration, change);
  if (digest !== digestOf(plan)) {
    throw new McpxError("bad_request", "the configuration is another than the one that was shown", {
      suggestion: "Look at the change again",
    });
  }
  const { backup, isClosed } = saveOnRecord(audit, plan, eventsOf(change, plan, actor));
  configuration.written(plan.file.path);
  const forgotten = change.type === "remove" ? await forgetPins(plan.file.dataDir, change.name, actor) : 0;
  return { file: plan.file.path, backup: backup ?? null, isClosed, forgotten };
}

/** What cannot be recorded is not done. */
function saveOnRecord(audit: Audit, plan: Plan, events: readonly AuditEvent[]): SavedConfig {
  if (!events.every((event) => audit.recordNow(event))) {
    throw new McpxError("storage_failed", "the change could not be recorded, so nothing was written");
  }
  try {
    return saveConfig(plan.file, plan.text, new Date());
  } catch (error) {
    for (const event of events) audit.record({ ...event, reason: "not_written" });
    throw error;
  }
}

function eventsOf(change: Change, { file, entries, leaving }: Plan, actor: string): AuditEvent[] {
  const action = `server.${change.type}`;
  if (change.type === "remove") {
    return [{ action, actor, subject: change.name, detail: { file: file.path } }];
  }
  return [...entries].map(([name, entry]) => {
    const more = leaving.includes(name) ? { replaced: true } : {};
    return { action, actor, subject: name, detail: { file: file.path, reach: reachOf(entry), ...more } };
  });
}

/** The command or address, its secrets hidden. */
function reachOf(entry: ServerEntry): string[] {
  const { command = "", args = [], url } = entry;
  const words = url === undefined ? [command, ...args] : [url];
  const secrets = secretsOf(entry);
  return words
    .slice(0, wordsMax)
    .map((word) => hideSecrets(word, secrets).slice(0, wordCharsMax).toWellFormed());
}
