// Both ends of the talk with a thread of the topic log: requests are answered one by one, in their order. Imports
// nothing of other packages, so that a thread starts at once and under any conditions.
import { type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads";

/** Full and busy pass; after `failed` nothing the store says may be believed. */
export type Fault = "full" | "busy" | "failed";

export type Reply<Done> = { done: Done } | { fault: Fault; message: string };

export interface Thread<Request, Done> {
  /** Never rejects: a thread that died answers `failed`. */
  ask(request: Request): Promise<Reply<Done>>;
  end(): Promise<void>;
}

const busyCodes = new Set([5, 6]);
const fullCode = 13;
/** An I/O error by name only: the index of the write-ahead log, which is never durable, found no room to grow. */
const indexFullCode = 4_874;

/** What an error of SQLite means for the log. */
export function faultOf(error: unknown): Fault {
  const extended = error instanceof Error && "errcode" in error ? Number(error.errcode) : undefined;
  const code = extended === undefined ? undefined : extended & 0xff;
  if (code === fullCode || extended === indexFullCode) return "full";
  return code !== undefined && busyCodes.has(code) ? "busy" : "failed";
}

/**
 * In the thread: answers each request; after the first `failed` it does nothing any more. Those that wait together and
 * `mayShare` are handled as one, and share its fault.
 */
export function serve<Request, Done>(
  port: MessagePort,
  mayShare: (request: Request) => boolean,
  handle: (requests: [Request, ...Request[]]) => Done[],
): void {
  let failure: Reply<Done> | undefined;
  const answer = (requests: [Request, ...Request[]]): Reply<Done>[] => {
    if (failure === undefined) {
      try {
        return handle(requests).map((done) => ({ done }));
      } catch (error) {
        const reply = { fault: faultOf(error), message: String(error) };
        if (reply.fault !== "failed") return requests.map(() => reply);
        failure = reply;
      }
    }
    return requests.map(() => failure as Reply<Done>);
  };
  port.on("message", (first: Request) => {
    let group: [Request, ...Request[]] = [first];
    for (;;) {
      const next = receiveMessageOnPort(port) as { message: Request } | undefined;
      if (next !== undefined && mayShare(group[0]) && mayShare(next.message)) group.push(next.message);
      else {
        port.postMessage(answer(group));
        if (next === undefined) return;
        group = [next.message];
      }
    }
  });
}

/** Starts the thread whose source is a sibling of this file, as it is or compiled. */
export function startThread<Request, Done>(
  name: string,
  data: unknown,
  onLost: (message: string) => void,
): Thread<Request, Done> {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const url = new URL(`./${name}.${extension}`, import.meta.url);
  // Flags of the process are not for it: some, like --input-type, would keep it from starting.
  return talkTo(new Worker(url, { workerData: data, name, execArgv: [] }), onLost);
}

/** `onLost` is told of a thread that ended by itself, also when nobody waits for an answer. */
export function talkTo<Request, Done>(
  worker: Worker,
  onLost: (message: string) => void,
): Thread<Request, Done> {
  const waiting: ((reply: Reply<Done>) => void)[] = [];
  let lost: Reply<Done> | undefined;
  let isEnding = false;
  const lose = (message: string) => {
    if (lost === undefined && !isEnding) onLost(message);
    lost ??= { fault: "failed", message };
    for (const resolve of waiting.splice(0)) resolve(lost);
  };
  worker.on("message", (replies: Reply<Done>[]) => {
    for (const reply of replies) waiting.shift()?.(reply);
  });
  worker.on("messageerror", (error) => lose(String(error)));
  worker.on("error", (error) => lose(String(error)));
  worker.on("exit", (code) => lose(`the thread ended with code ${code}`));
  return {
    ask: (request) =>
      new Promise((resolve) => {
        if (lost !== undefined) return resolve(lost);
        waiting.push(resolve);
        worker.postMessage(request);
      }),
    end: async () => {
      isEnding = true;
      await worker.terminate();
    },
  };
}
