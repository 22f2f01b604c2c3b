// The thread in which a gateway copies itself and looks through its copies: reading gigabytes holds up nobody else.
import { parentPort, workerData } from "node:worker_threads";
import { Failure } from "../framework/failure.ts";
import { type CopiedConfig, copyDataDir } from "./copy.ts";
import { verifyBackup } from "./verify.ts";

export type BackupTask =
  | { verb: "copy"; dataDir: string; target: string; config: CopiedConfig | undefined }
  | { verb: "verify"; target: string };

const task = workerData as BackupTask;
try {
  const done =
    task.verb === "copy"
      ? await copyDataDir(task.dataDir, task.target, task.config)
      : await verifyBackup(task.target);
  parentPort?.postMessage({ done });
} catch (error) {
  if (!(error instanceof Failure)) throw error;
  parentPort?.postMessage({ fault: error.message });
}
