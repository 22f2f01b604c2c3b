// Backups at the console: copies of the data directory within it, each in a directory named by its time; made, listed
// and checked. Restoring one is for the terminal: it needs a gateway that does not run.
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Audit, Clock } from "@mcpx/host";
import { type JsonObject, McpxError } from "@mcpx/protocol";
import { checkInFiles } from "../backup/check-in-files.ts";
import { configToCopy } from "../backup/config-to-copy.ts";
import { inThread } from "../backup/in-thread.ts";
import { readList } from "../backup/list.ts";
import type { Home } from "../files/state-place.ts";
import { Failure } from "../framework/failure.ts";

export interface BackupsOptions {
  dataDir: string;
  /** Where the configuration is looked for; absent where the gateway was not started from one. */
  configuration: { cwd: string; env: Home["env"] } | undefined;
  audit: Audit;
  clock: Pick<Clock, "now">;
  user: string;
}

export interface Backups {
  list(): JsonObject;
  make(): Promise<JsonObject>;
  verify(name: string): Promise<JsonObject>;
}

const shape = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d$/;
const backupsMax = 100;

export function createBackups({ dataDir, configuration, audit, clock, user }: BackupsOptions): Backups {
  const dir = join(dataDir, "backups");
  const names = () => (existsSync(dir) ? readdirSync(dir).filter((name) => shape.test(name)) : []);
  let isBusy = false;
  const alone = async (work: () => Promise<JsonObject>): Promise<JsonObject> => {
    if (isBusy)
      throw new McpxError("rate_limited", "a backup is being made or checked", { retryAfterMs: 5_000 });
    isBusy = true;
    try {
      return await work();
    } catch (error) {
      throw error instanceof Failure ? new McpxError("bad_request", error.message) : error;
    } finally {
      isBusy = false;
    }
  };
  return {
    list: () => ({
      dir,
      backups: names()
        .toSorted()
        .toReversed()
        .map((name) => shown(dir, name)),
    }),
    make: () =>
      alone(async () => {
        await checkInFiles({ dataDir, env: configuration?.env ?? {} });
        if (names().length >= backupsMax) {
          throw new McpxError("rate_limited", `there are ${backupsMax} backups`, {
            suggestion: `Move some of ${dir} elsewhere`,
          });
        }
        const name = new Date(clock.now()).toISOString().slice(0, 19).replaceAll(":", "-");
        const target = join(dir, name);
        const config = configuration && configToCopy({ cwd: configuration.cwd, dataDir });
        const { files, left } = await inThread<"copy">({ verb: "copy", dataDir, target, config });
        const detail = { dir: target, files: files.length };
        await audit.recordNow({ action: "backup.make", actor: `console:${user}`, subject: name, detail });
        return { ...shown(dir, name), left: left.map(({ file, why }) => ({ file, why })) };
      }),
    verify: (name) =>
      alone(async () => {
        if (!shape.test(name) || !existsSync(join(dir, name)))
          throw new McpxError("not_found", "there is no such backup");
        const { stores, files = [] } = await inThread<"verify">({ verb: "verify", target: join(dir, name) });
        const bad = [...stores, ...files].filter(({ problems }) => problems.length > 0);
        const problems = bad.map(({ file, problems: said }) => `${file}: ${said.join(", ")}`);
        return { name, isSound: problems.length === 0, files: stores.length + files.length, problems };
      }),
  };
}

function shown(dir: string, name: string): JsonObject {
  try {
    const files = readList(join(dir, name)) ?? [];
    const bytes = files.reduce((sum, one) => sum + one.bytes, 0);
    return { name, madeAt: statSync(join(dir, name)).mtime.toISOString(), files: files.length, bytes };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { name, fault: error.message };
  }
}
