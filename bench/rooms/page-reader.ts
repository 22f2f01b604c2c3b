// Reads pages of history over one connection, and as many answers of a bare server, and tells how long each took.
import { Agent, request } from "node:http";
import { sized } from "../sizes.ts";

export interface Asked {
  /** The address of a page, but for the seq it ends before. */
  page: string;
  bare: string;
  authorization: string;
  envelopes: number;
}

/** Milliseconds, sorted; `cold` are pages while the code that makes them is being compiled. */
export type Waited = Record<"cold" | "page" | "bare", number[]>;

const coldCount = sized(300, 10);
/** As long as the rooms warm up. */
const warmUp = sized(1_500, 10);
const measured = sized(500, 10);
const agent = new Agent({ keepAlive: true });

process.once("message", async (asked: Asked) => process.send?.(await readAll(asked)));

async function readAll({ page, bare, authorization, envelopes }: Asked): Promise<Waited> {
  const waited: Waited = { cold: [], page: [], bare: [] };
  for (let i = 0; i < warmUp + measured; i += 1) {
    const before = 1 + Math.floor(Math.random() * envelopes);
    const took = { page: await get(`${page}${before}`, authorization), bare: await get(bare, authorization) };
    if (i < coldCount) waited.cold.push(took.page);
    if (i < warmUp) continue;
    waited.page.push(took.page);
    waited.bare.push(took.bare);
  }
  for (const waits of Object.values(waited)) waits.sort((a, b) => a - b);
  return waited;
}

function get(url: string, authorization: string): Promise<number> {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const asked = request(url, { agent, headers: { authorization } }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${url} answered ${response.statusCode}`));
      response.on("end", () => resolve(performance.now() - began)).resume();
    });
    asked.on("error", reject).end();
  });
}
