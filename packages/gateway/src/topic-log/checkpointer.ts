// The thread that brings what was committed from the write-ahead log into the store, beside the writer. A commit is
// durable without it; it only keeps the write-ahead log short.
import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { serve } from "./thread.ts";

export interface CheckpointerData {
  path: string;
}

export type CheckpointerRequest = "checkpoint" | "close";

const db = new DatabaseSync((workerData as CheckpointerData).path, { defensive: true });
db.exec("PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON");

if (parentPort === null) throw new Error("checkpointer.ts is a thread of the topic log");
serve<CheckpointerRequest, undefined>(
  parentPort,
  () => false,
  ([request]) => {
    if (request === "close") db.close();
    else db.exec("PRAGMA wal_checkpoint(PASSIVE)");
    return [undefined];
  },
);
