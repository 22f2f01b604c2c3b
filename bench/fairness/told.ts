// A process of the benchmark that does what it is told: a command is a message, and each has one answer.
import { type ChildProcess, fork } from "node:child_process";

export interface Told {
  tell<T>(name: string, value?: unknown): Promise<T>;
  /** kill -9, and waits for it. */
  end(): Promise<void>;
}

interface Order {
  number: number;
  name: string;
  value: unknown;
}

interface Answer {
  number: number;
  value?: unknown;
  error?: string;
}

const running = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

export function startTold(file: URL): Told {
  const child = fork(file, { execArgv: ["--conditions=mcpx-source"] });
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let last = 0;
  running.add(child);
  child.on("message", ({ number, value, error }: Answer) => {
    if (error === undefined) waiting.get(number)?.resolve(value);
    else waiting.get(number)?.reject(new Error(error));
    waiting.delete(number);
  });
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  void gone.then(() => {
    running.delete(child);
    for (const { reject } of waiting.values()) reject(new Error(`${file.pathname} has ended`));
  });
  return {
    tell<T>(name: string, value?: unknown) {
      const answer = Promise.withResolvers<unknown>();
      last += 1;
      waiting.set(last, answer);
      child.send({ number: last, name, value } satisfies Order);
      return answer.promise as Promise<T>;
    },
    end() {
      child.kill("SIGKILL");
      return gone;
    },
  };
}

/** Called by the process itself, which ends with the one that started it. */
export function obey(does: Record<string, (value: never) => unknown>): void {
  process.on("message", async ({ number, name, value }: Order) => {
    try {
      const done = await does[name]?.(value as never);
      process.send?.({ number, value: done } satisfies Answer);
    } catch (error) {
      process.send?.({ number, error: String(error) } satisfies Answer);
    }
  });
  process.on("disconnect", () => process.exit(0));
}
