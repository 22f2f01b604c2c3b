// The benchmark's hand on the load: what it may be told, and what it answers.
import { fork } from "node:child_process";
import type { Target } from "./session.ts";

export type LoadCommand =
  | { do: "open"; target: Target; connections: number }
  | { do: "saturate"; ms: number; callsMax: number }
  | { do: "keepRate"; perSecond: number; ms: number }
  | { do: "close" };

export interface LoadFigures {
  calls: number;
  ms: number;
  p50Ms: number;
  p99Ms: number;
}

export interface Load {
  open(target: Target, connections: number): Promise<void>;
  saturate(ms: number, callsMax?: number): Promise<LoadFigures>;
  keepRate(perSecond: number, ms: number): Promise<LoadFigures>;
  close(): Promise<void>;
  end(): void;
}

/** A call that has not come back by then never will. */
const graceMs = 15_000;

interface Reply {
  /** Of the command it answers: one that failed may be reported many times. */
  number: number;
  value?: unknown;
  error?: string;
}

export function startLoad(): Load {
  const child = fork(new URL("./load.ts", import.meta.url), { execArgv: ["--conditions=mcpx-source"] });
  let last = 0;
  const tell = <T>(command: LoadCommand, ms = 0): Promise<T> => {
    last += 1;
    const number = last;
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const take = (reply: Reply) => {
      if (reply.number !== number) return;
      if (reply.error === undefined) resolve(reply.value as T);
      else reject(new Error(reply.error));
    };
    const ended = () => reject(new Error("the load has ended"));
    const timer = setTimeout(() => reject(new Error(`no end of ${JSON.stringify(command)}`)), ms + graceMs);
    child.on("message", take);
    child.on("exit", ended);
    child.send({ number, command });
    return promise.finally(() => {
      clearTimeout(timer);
      child.off("message", take);
      child.off("exit", ended);
    });
  };
  return {
    open: (target, connections) => tell({ do: "open", target, connections }),
    saturate: (ms, callsMax = 1e9) => tell({ do: "saturate", ms, callsMax }, ms),
    keepRate: (perSecond, ms) => tell({ do: "keepRate", perSecond, ms }, ms),
    close: () => tell({ do: "close" }),
    end: () => child.disconnect(),
  };
}
