// Decides when the write-ahead log is checkpointed and begun anew, so that it stays short and appends hardly notice.
import type { CheckpointerData, CheckpointerRequest } from "./checkpointer.ts";
import { type Reply, startThread, type Thread } from "./thread.ts";
import type { WriterDone, WriterRequest } from "./writer.ts";

export interface CheckpointOptions extends CheckpointerData {
  /** Growth after which the other thread is asked for a checkpoint. */
  checkpointBytes: number;
  /** Size past which the writer begins it anew, whatever else is going on. */
  walBytesMax: number;
}

export interface Checkpoints {
  begin(): void;
  afterCommit(walBytes: number): void;
  end(): Promise<void>;
}

export function createCheckpoints(
  { path, checkpointBytes, walBytesMax }: CheckpointOptions,
  writer: Thread<WriterRequest, WriterDone>,
  fail: (message: string) => void,
): Checkpoints {
  // Started at the first need: small logs never have one.
  let checkpointer: Thread<CheckpointerRequest, undefined> | undefined;
  let bytes = 0;
  let grownFrom = 0;
  let restartFrom = walBytesMax;
  let isRunning = false;
  let isRestarting = false;

  const failOn = (reply: Reply<unknown>) => {
    if ("fault" in reply && reply.fault === "failed") fail(reply.message);
  };

  async function checkpoint(): Promise<void> {
    if (isRunning) return;
    isRunning = true;
    checkpointer ??= startThread("checkpointer", { path } satisfies CheckpointerData, fail);
    failOn(await checkpointer.ask("checkpoint"));
    // While envelopes flow the log is never found empty. Now little is left, so the writer stops only for a moment.
    if (bytes >= walBytesMax / 4) await restart();
    isRunning = false;
  }

  async function restart(): Promise<void> {
    if (isRestarting) return;
    isRestarting = true;
    const reply = await writer.ask({ do: "restartWal" });
    failOn(reply);
    // Where somebody reads for long, asking again at each commit would make each of them wait.
    const isNew = "done" in reply && reply.done.result === true;
    restartFrom = isNew ? walBytesMax : bytes + checkpointBytes;
    isRestarting = false;
  }

  return {
    begin: () => void checkpoint(),
    afterCommit: (walBytes) => {
      bytes = walBytes;
      // Smaller than before: it was begun anew.
      grownFrom = Math.min(grownFrom, bytes);
      if (bytes >= restartFrom) void restart();
      if (isRunning || bytes - grownFrom < checkpointBytes) return;
      grownFrom = bytes;
      void checkpoint();
    },
    end: async () => {
      await checkpointer?.ask("close");
      await checkpointer?.end();
    },
  };
}
