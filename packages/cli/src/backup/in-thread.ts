// Copies and checks of a running gateway, in a thread of their own. Throws `Failure` as they do.
import { Worker } from "node:worker_threads";
import { Failure } from "../framework/failure.ts";
import type { BackupTask } from "./backup-thread.ts";
import type { Copied } from "./copy.ts";
import type { BackupVerdict } from "./verify.ts";

interface Done {
  copy: Copied;
  verify: BackupVerdict;
}

export async function inThread<Verb extends BackupTask["verb"]>(
  task: Extract<BackupTask, { verb: Verb }>,
): Promise<Done[Verb]> {
  const isSource = import.meta.url.endsWith(".ts");
  const url = new URL(`./backup-thread.${isSource ? "ts" : "js"}`, import.meta.url);
  // Flags of the process are not for it, but for where packages are found.
  const execArgv = isSource ? ["--conditions=mcpx-source"] : [];
  const worker = new Worker(url, { workerData: task, execArgv, name: "backup" });
  try {
    return await new Promise<Done[Verb]>((resolve, reject) => {
      worker.once("message", ({ done, fault }: { done?: Done[Verb]; fault?: string }) =>
        done === undefined ? reject(new Failure(String(fault))) : resolve(done),
      );
      worker.once("error", reject);
      worker.once("exit", (code) => reject(new Error(`the thread of the backup ended with code ${code}`)));
    });
  } finally {
    await worker.terminate();
  }
}
