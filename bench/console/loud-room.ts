// A room at a gateway of its own, with others who speak in it: gateway and speakers each in a process of their own.
import { type ChildProcess, fork } from "node:child_process";
import { type ServerProcess, startServerProcess } from "../rooms/server-process.ts";
import { sized } from "../sizes.ts";

export interface LoudRoom {
  /** A new one each time: it lets one browser in. */
  link(): Promise<string>;
  speak: Speakers["speak"];
}

/** Of what is said, so much is shown unless somebody asks for all. */
export const shownShare = 0.9;
const publishers = sized(20, 2);

/** Tools in the tree, and rooms beside the loud one. */
export interface Wide {
  tools: number;
  rooms: number;
}

/** `prefilled`: so much was said before anybody came. */
export async function withRoom<T>(
  prefilled: number,
  work: (room: LoudRoom) => Promise<T>,
  { tools, rooms }: Wide = { tools: 0, rooms: 0 },
): Promise<T> {
  const server = await startServerProcess("../console/gateway.ts", [publishers, prefilled, tools, rooms]);
  const tokens = server.tokens.slice(0, -1);
  const speakers = await startSpeakers(server.url, "bench-0", tokens);
  try {
    return await work({ link: () => loginLink(server), speak: speakers.speak });
  } finally {
    speakers.stop();
    await server.stop();
  }
}

export interface Speakers {
  /** So many a second for so long; resolves when all is acknowledged. */
  speak(perSecond: number, seconds: number): Promise<void>;
  stop(): void;
}

/** One for each token, all in one process of their own. */
export async function startSpeakers(
  url: string,
  topic: string,
  tokens: readonly string[],
): Promise<Speakers> {
  const child = fork(new URL("./publishers.ts", import.meta.url), [url, topic, ...tokens], {
    execArgv: ["--conditions=mcpx-source"],
  });
  await message(child);
  return {
    async speak(perSecond, seconds) {
      child.send({ perSecond, seconds });
      await message(child);
    },
    stop: () => child.kill(),
  };
}

async function loginLink({ url, tokens }: ServerProcess): Promise<string> {
  const response = await fetch(`${url}/admin/console-links`, {
    method: "POST",
    headers: { authorization: `Bearer ${tokens.at(-1)}`, "content-type": "application/json" },
    body: "{}",
  });
  const { path } = (await response.json()) as { path: string };
  return `${url.replace("127.0.0.1", "localhost")}${path}`;
}

function message(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    child.once("message", resolve);
    child.once("exit", (code) => reject(new Error(`those who speak ended with ${code}`)));
  });
}
