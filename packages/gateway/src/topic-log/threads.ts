// The threads of the topic log as the event loop sees them: hands requests to the writer and
// stops for good at the first fault that makes the store untrustworthy.
import { McpxError } from "@mcpx/protocol";
import { type CheckpointOptions, createCheckpoints } from "./checkpoints.ts";
import { startThread, type Thread } from "./thread.ts";
import type { WriterData, WriterDone, WriterRequest, WriterResults } from "./writer.ts";

export interface TopicLogThreads {
  /** Rejects with `storage_full`, `rate_limited` (another process holds the store) or `storage_failed`. */
  write<Request extends WriterRequest>(request: Request): Promise<WriterResults[Request["do"]]>;
  end(): Promise<void>;
}

/** Rejects where the writer cannot open the store. */
export async function startThreads(
  options: Omit<WriterData, "walBytesKept"> & CheckpointOptions,
  onFailure: (error: Error) => void,
): Promise<TopicLogThreads> {
  const data: WriterData = { ...options, walBytesKept: options.walBytesMax / 16 };
  let failure: Error | undefined;
  const fail = (message: string) => {
    if (failure !== undefined) return;
    failure = new Error(`the topic log stopped: ${message}`);
    onFailure(failure);
  };
  const writer: Thread<WriterRequest, WriterDone> = startThread("writer", data, fail);
  const checkpoints = createCheckpoints(options, writer, fail);

  async function write(request: WriterRequest): Promise<WriterDone["result"]> {
    if (failure === undefined) {
      const reply = await writer.ask(request);
      if ("done" in reply) {
        checkpoints.afterCommit(reply.done.walBytes);
        return reply.done.result;
      }
      // Where the disk is full, a checkpoint lets the write-ahead log be used again from its start.
      if (reply.fault === "full") checkpoints.begin();
      if (reply.fault !== "failed") throw passingFault(reply.fault);
      fail(reply.message);
    }
    // After a failed fsync the system may drop the pages and report success next time: nothing can be promised.
    throw new McpxError("storage_failed", "nothing is stored until the gateway is restarted", {
      cause: failure,
    });
  }

  async function end(): Promise<void> {
    await checkpoints.end();
    await writer.ask({ do: "close" });
    await writer.end();
  }

  // The first answer says that the store is open.
  const opened = await writer.ask({ do: "open" });
  if ("fault" in opened) {
    await end();
    throw new Error(`the topic log cannot be opened: ${opened.message}`);
  }
  return { write: write as TopicLogThreads["write"], end };
}

function passingFault(fault: "full" | "busy"): McpxError {
  return fault === "full"
    ? new McpxError("storage_full")
    : new McpxError("rate_limited", "the store is held by another process", { retryAfterMs: 1_000 });
}
