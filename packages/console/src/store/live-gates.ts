// Gates as they change: one page of a browser listens to the gateway and tells the others, since a browser opens only a
// few connections to one host. Where nobody hears anything, `isLive` says so, and the page has to look by itself.
import { isObject } from "@mcpx/protocol";
import { type Api, ApiError } from "./api.ts";
import type { Gates } from "./gates.ts";
import { type News, readNews } from "./read-news.ts";

/** The pages of this browser that are logged in. */
export interface Pages {
  /** Does it while no other page does; waits for that. */
  alone(work: () => Promise<void>, signal: AbortSignal): Promise<void>;
  tell(message: unknown): void;
  /** What others tell. */
  hear(run: (message: unknown) => void, signal: AbortSignal): void;
}

export interface LiveGatesOptions {
  api: Pick<Api, "follow">;
  gates: Pick<Gates, "touch" | "touchAll">;
  pages: Pages;
  signal: AbortSignal;
}

export interface LiveGates {
  /** Whatever happens is heard of. */
  isLive(): boolean;
}

const path = "/gates/news";
/** The gateway gives a sign of life every five seconds. */
const silenceMs = 15_000;
const againMs = 1_000;

export function followGates({ api, gates, pages, signal }: LiveGatesOptions): LiveGates {
  let heardAt = Number.NEGATIVE_INFINITY;
  let lastId: string | undefined;
  const isLive = () => performance.now() - heardAt < silenceMs;
  const hear = ({ id, gate, isAll }: News) => {
    // A page that was away, asleep for example, does not know what was told meanwhile.
    if (isAll || !isLive()) gates.touchAll();
    else if (gate !== undefined) gates.touch(gate);
    heardAt = performance.now();
    lastId = id ?? lastId;
  };
  const lose = () => {
    heardAt = Number.NEGATIVE_INFINITY;
  };
  pages.hear((message) => {
    const news = readTold(message);
    if (news === "lost") lose();
    else if (news !== undefined) hear(news);
  }, signal);

  const listen = async () => {
    const silent = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const wait = () => {
      clearTimeout(timer);
      timer = setTimeout(() => silent.abort(), silenceMs);
    };
    try {
      wait();
      const body = await api.follow(path, { lastId, signal: AbortSignal.any([signal, silent.signal]) });
      for await (const news of readNews(body)) {
        wait();
        hear(news);
        pages.tell(news);
      }
    } finally {
      clearTimeout(timer);
      lose();
      pages.tell("lost");
    }
  };
  const keepListening = async () => {
    while (!signal.aborted) {
      try {
        await listen();
      } catch (error) {
        if (error instanceof ApiError && error.status === 401) return;
      }
      await new Promise((resolve) => setTimeout(resolve, againMs));
    }
  };
  // Aborted while it waited for its turn: there is nothing to be done any more.
  pages.alone(keepListening, signal).catch(() => undefined);
  return { isLive };
}

/** Pages of other versions may tell other things. */
function readTold(message: unknown): News | "lost" | undefined {
  if (message === "lost") return message;
  if (!isObject(message)) return undefined;
  const { id, gate, isAll } = message;
  return {
    ...(typeof id === "string" && { id }),
    ...(typeof gate === "string" && { gate }),
    ...(isAll === true && { isAll }),
  };
}
