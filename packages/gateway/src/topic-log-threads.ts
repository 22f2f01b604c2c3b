// The threads of the topic log as the event loop sees them: hands requests to the writer, decides when to checkpoint,
// and stops for good at the first fault that makes the store untrustworthy.
import { McpxError } from "@mcpx/protocol";
import type { CheckpointerData, CheckpointerRequest } from "./topic-log-checkpointer.ts";
import { type Reply, startThread, type Thread } from "./topic-log-thread.ts";
import type { WriterData, WriterDone, WriterRequest, WriterResults } from "./topic-log-writer.ts";

export interface TopicLogThreads {
  /** Rejects with `storage_full`, `rate_limited` (another process holds the store) or `storage_failed`. */
  write<Request extends WriterRequest>(request: Request): Promise<WriterResults[Request["do"]]>;
  end(): Promise<void>;
}

/** Rejects where the writer cannot open the store. */
export async function startThreads(
  data: WriterData,
  onFailure: (error: Error) => void,
): Promise<TopicLogThreads> {
  let failure: Error | undefined;
  const fail = (message: string) => {
    if (failure !== undefined) return;
    failure = new Error(`the topic log stopped: ${message}`);
    onFailure(failure);
  };
  const writer = startThread<WriterRequest, WriterDone>("topic-log-writer", data, fail);
  const checkpoints = createCheckpoints(data, fail);

  async function write(request: WriterRequest): Promise<WriterDone["result"]> {
    if (failure === undefined) {
      const reply = await writer.ask(request);
      if ("done" in reply) {
        afterCommit(reply.done.walBytes);
        return reply.done.result;
      }
      // Where the disk is full, a checkpoint lets the write-ahead log be used again from its start.
      if (reply.fault === "full") checkpoints.begin();
      if (reply.fault !== "failed") throw passingFault(reply.fault);
      fail(reply.message);
    }
    // A failed fsync may have lost what an earlier one promised to try again: nothing later can be promised.
    throw new McpxError("storage_failed", "nothing is stored until the gateway is restarted", {
      cause: failure,
    });
  }

  function afterCommit(walBytes: number): void {
    // Two checkpoints at once get in each other's way, so the bound is kept between those of the other thread.
    if (walBytes < data.walBytesMax) checkpoints.afterCommit(walBytes);
    else if (!checkpoints.isRunning())
      void writer.ask({ do: "boundWal" }).then((reply) => failOn(reply, fail));
  }

  async function end(): Promise<void> {
    await checkpoints.end();
    await writer.ask({ do: "close" });
    await writer.end();
  }

  // The first answer says that the store is open.
  failOn(await writer.ask({ do: "boundWal" }), fail);
  if (failure !== undefined) {
    await end();
    throw failure;
  }
  return { write: write as TopicLogThreads["write"], end };
}

function passingFault(fault: "full" | "busy"): McpxError {
  return fault === "full"
    ? new McpxError("storage_full")
    : new McpxError("rate_limited", "the store is held by another process", { retryAfterMs: 1_000 });
}

function failOn(reply: Reply<unknown>, fail: (message: string) => void): void {
  if ("fault" in reply && reply.fault === "failed") fail(reply.message);
}

/** One checkpoint at a time, whenever the write-ahead log has grown by `checkpointBytes`. */
function createCheckpoints({ path, checkpointBytes }: WriterData, fail: (message: string) => void) {
  const data: CheckpointerData = { path };
  // Started at the first need: small logs never have one.
  let checkpointer: Thread<CheckpointerRequest, undefined> | undefined;
  let grownFrom = 0;
  let isRunning = false;
  const begin = () => {
    if (isRunning) return;
    isRunning = true;
    checkpointer ??= startThread("topic-log-checkpointer", data, fail);
    void checkpointer.ask("checkpoint").then((reply) => {
      isRunning = false;
      failOn(reply, fail);
    });
  };
  return {
    isRunning: () => isRunning,
    begin,
    afterCommit: (walBytes: number) => {
      // Smaller than before: the writer has begun it anew.
      grownFrom = Math.min(grownFrom, walBytes);
      if (isRunning || walBytes - grownFrom < checkpointBytes) return;
      grownFrom = walBytes;
      begin();
    },
    end: async () => {
      await checkpointer?.ask("close");
      await checkpointer?.end();
    },
  };
}
