// A change of the configuration is made: exactly the one that was shown, on record, and taken over at once.
import type { Audit, AuditEvent, Logger } from "@mcpx/host";
import { type JsonObject, McpxError } from "@mcpx/protocol";
import { type SavedConfig, type ServerEntry, saveConfig } from "../../config-edit/edit-config.ts";
import { shownReach } from "../../framework/secrets.ts";
import { cutWithMark } from "../../framework/visible.ts";
import { forgetPins } from "../../tree-view/forget-pins.ts";
import type { Configuration } from "./configuration.ts";
import { digestOf, type Plan, planChange } from "./plan-change.ts";
import type { Change } from "./read-change.ts";

export interface ChangeContext {
  configuration: Configuration;
  audit: Audit;
  actor: string;
  log: Pick<Logger, "error">;
}

const wordsMax = 50;
const wordCharsMax = 500;

/** `digest` is of what was shown; throws where it would be another change now. */
export async function makeChange(
  context: ChangeContext,
  change: Change,
  digest: unknown,
): Promise<JsonObject> {
  const { configuration, audit, actor } = context;
  const plan = planChange(configuration, change);
  if (digest !== digestOf(plan)) {
    throw new McpxError("bad_request", "the configuration has changed since the change was shown", {
      suggestion: "Look at the change again",
    });
  }
  const { backup, isClosed } = saveOnRecord(audit, plan, eventsOf(change, plan, actor));
  configuration.written(plan.file.path);
  const forgotten = change.type === "remove" ? await forget(context, plan, change.name) : 0;
  return { file: plan.file.path, backup: backup ?? null, isClosed, forgotten };
}

/** `null` where it could not be: the file is written all the same. */
async function forget({ actor, log }: ChangeContext, { file }: Plan, server: string): Promise<number | null> {
  try {
    return await forgetPins(file.dataDir, server, actor);
  } catch (error) {
    log.error({ err: error, server }, "could not forget the pins of a removed server");
    return null;
  }
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

/** `digest` is of all of it, also of what is too long or too secret to be told. */
function eventsOf(change: Change, plan: Plan, actor: string): AuditEvent[] {
  const { file, entries, leaving } = plan;
  const about = { file: file.path, digest: digestOf(plan) };
  if (change.type === "rules") {
    return [{ action: "rules.change", actor, detail: { ...about, rules: change.rules.length } }];
  }
  if (change.type === "tool") {
    const { server, tool, set } = change;
    const changed = Object.keys(set);
    return [{ action: "tool.change", actor, subject: `${server} ${tool}`, detail: { ...about, changed } }];
  }
  const action = `server.${change.type}`;
  if (change.type === "remove") return [{ action, actor, subject: change.name, detail: about }];
  return [...entries].map(([name, entry]) => {
    const more = leaving.includes(name) ? { replaced: true } : {};
    return { action, actor, subject: name, detail: { ...about, reach: reachOf(entry), ...more } };
  });
}

/** The command or address, its secrets hidden; what is cut says so. */
export function reachOf(entry: ServerEntry): string[] {
  const words = shownReach(entry);
  const shown = words.slice(0, wordsMax).map((word) => cutWithMark(word.toWellFormed(), wordCharsMax));
  return words.length > wordsMax ? [...shown, `… ${words.length - wordsMax} more`] : shown;
}
