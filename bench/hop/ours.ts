// `mcpx up` in front of the backend, as a user would have it: its own process, authentication on.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { programArgs } from "../../tests/support/programs.ts";
import { type Started, startCommand } from "./started.ts";

/** From its sources, or as `npm test` has put it together. */
export const mcpx = programArgs("packages/cli/src/main.ts");

export interface Ours extends Started {
  url: string;
  token: string;
}

/** A string says why there is nothing to measure. */
export async function startOurs(server: Record<string, unknown>, dir: string): Promise<Ours | string> {
  const config = join(dir, "mcpx.json");
  const data = join(dir, "data");
  writeFileSync(config, JSON.stringify({ mcpServers: { bench: server }, gates: { unannotated: "allow" } }));
  const ask = [...mcpx, "token", "--id", "bench", "--tools", "**", "--data", data];
  const { status, stdout, stderr } = spawnSync(process.execPath, ask, { cwd: dir, encoding: "utf8" });
  if (status !== 0) throw new Error(`mcpx token: ${stderr}`);
  const token = stdout.trim();
  const args = [...mcpx, "up", "--port", "0", "--json", "--data", data, "--config", config];
  const started = startCommand(args, { cwd: dir });
  const url = await readUrl(started);
  if (url === undefined) {
    const words = started.lastWords();
    if (words.includes("not supported by this version")) return "`mcpx up` does not know mcpServers yet";
    throw new Error(`mcpx up: ${words}`);
  }
  const roomEndpoint = `${url}/mcp`;
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
  const answer = await fetch(roomEndpoint, { method: "POST", headers, body });
  // A endpoint that is there answers 404 to an unknown method too, but in JSON-RPC.
  if (answer.status === 404 && !(await answer.text()).includes('"jsonrpc"')) {
    await started.stop();
    return "`/mcp` answers 404: there is no tree yet";
  }
  return { ...started, url: roomEndpoint, token };
}

/** Where `mcpx up --json` listens, once it does; `undefined` where it has ended instead. */
export async function readUrl(started: Started): Promise<string | undefined> {
  for (let tries = 0; tries < 300 && !started.hasEnded(); tries += 1) {
    const url = /"url": ?"([^"]+)"/.exec(started.lastWords())?.[1];
    if (url !== undefined) return url.replace(/\/$/, "");
    await sleep(100);
  }
  return undefined;
}
