// A change of the configuration is made: exactly the one that was shown, on record, and taken over at once.
import type { Audit, AuditEvent, Logger } from "@mcpx/host";
import { type JsonObject, McpxError } from "@mcpx/protocol";
import { forgetBridge } from "../../bridges/bridge-records.ts";
import { type ServerEntry, saveConfig } from "../../config-edit/edit-config.ts";
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
  const shownPlan = () => {
    const plan = planChange(configuration, change);
    if (digest === digestOf(plan)) return plan;
    throw new McpxError("bad_request", "the configuration has changed since the change was shown", {
      suggestion: "Look at the change again",
    });
  };
  const plan = shownPlan();
  // Planned once more when it is recorded: somebody else may have written the file meanwhile.
  const { backup, isClosed } = await onRecord(audit, eventsOf(change, plan, actor), () =>
    saveConfig(shownPlan().file, plan.text, new Date()),
  );
  configuration.written(plan.file.path);
  const forgotten = await forgetAfter(context, plan, change);
  return { file: plan.file.path, backup: backup ?? null, isClosed, forgotten };
}

/** What was kept of what is gone. `null` where it could not be: the file is written all the same. */
async function forgetAfter(
  { actor, log, configuration: { env } }: ChangeContext,
  { file: { dataDir } }: Plan,
  change: Change,
): Promise<number | null> {
  const home = { dataDir, env };
  try {
    if (change.type === "remove") return await forgetPins(home, change.name, actor);
    if (change.type === "unbridge") return await forgetBridge(home, change.name, actor);
    return 0;
  } catch (error) {
    log.error(
      { err: error, change: change.type },
      "could not forget the records of a server or bridge that was removed",
    );
    return null;
  }
}

/** What cannot be recorded is not done. */
async function onRecord<T>(audit: Audit, events: readonly AuditEvent[], save: () => T): Promise<T> {
  const recorded = await Promise.all(events.map((event) => audit.recordNow(event)));
  if (recorded.includes(false)) {
    throw new McpxError("storage_failed", "the change could not be recorded, so nothing was written");
  }
  try {
    return save();
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
  if (change.type === "bridge" || change.type === "unbridge") {
    const action = change.type === "bridge" ? "bridge.add" : "bridge.remove";
    return [{ action, actor, subject: change.name, detail: about }];
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
