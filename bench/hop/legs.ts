// What is measured: each leg is one way for a call to take, with processes of its own, all started before the first
// is measured, so that rounds can go around.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { isSmoke } from "../sizes.ts";
import { startOurs } from "./ours.ts";
import { startMcpHub, startMcpProxy, startMcpProxyHttp, startSupergateway } from "./peers.ts";
import type { Manner, Target } from "./session.ts";
import { type Started, startOwn } from "./started.ts";

export type Era = "modern" | "legacy";

export interface Leg {
  /** The case it belongs to. */
  name: string;
  era: Era;
  isPeer: boolean;
  target: Target;
  /** The hop; absent where there is none. */
  hopPid: number | undefined;
  /** The backend, where it is not the hop's child. */
  backendPid: number | undefined;
}

interface Backends {
  /** Of this era, over HTTP. */
  http: Record<Era, Started & { url: string }>;
  /** The command that starts one over stdio. */
  stdio: Record<Era, string[]>;
}

const backendFile = new URL("./backend.ts", import.meta.url).pathname;

/** Whether a child of a hop is a backend, or the shell of one, rather than part of the hop. */
export function isBackend(command: string): boolean {
  return command.includes(backendFile);
}

export interface Field {
  legs: Leg[];
  /** Why a case is not measured. */
  skipped: Record<string, string>;
  stop(): Promise<void>;
}

type Start = (era: Era, dir: string) => Promise<(Started & { url: string; token?: string }) | string>;

export async function startField(dir: string): Promise<Field> {
  const started: Started[] = [];
  const keep = <T extends Started>(one: T): T => {
    started.push(one);
    return one;
  };
  const command = (era: Era) => [process.execPath, backendFile, "stdio", era];
  const backends: Backends = {
    http: {
      modern: keep(await startOwn("./backend.ts", ["http", "modern"])),
      legacy: keep(await startOwn("./backend.ts", ["http", "legacy"])),
    },
    stdio: { modern: command("modern"), legacy: command("legacy") },
  };
  const legs: Leg[] = [];
  const skipped: Record<string, string> = {};
  for (const era of ["modern", "legacy"] as const) {
    const { url, pid } = backends.http[era];
    const target: Target = { url, manner: era, tool: "echo" };
    legs.push({ name: "direct", era, isPeer: false, target, hopPid: undefined, backendPid: pid });
  }
  const open = async ([name, era, tool, start, manner = era]: Row) => {
    const own = join(dir, `${name}-${era}`);
    mkdirSync(own);
    try {
      const hop = await start(era, own);
      if (typeof hop === "string") {
        skipped[name] = hop;
        return;
      }
      keep(hop);
      const target: Target = { url: hop.url, manner, tool };
      if (hop.token !== undefined) target.token = hop.token;
      const backendPid = name.endsWith("stdio") ? undefined : backends.http[era].pid;
      const isPeer = isPeerName(name);
      legs.push({ name, era, isPeer, target, hopPid: hop.pid, backendPid });
    } catch (error) {
      skipped[name] = `could not be started: ${error}`;
    }
  };
  const order = rows(backends).filter((row) => !isSmoke || isOfSmoke(row));
  await Promise.all(order.map(open));
  // They became ready in any order; figures stand in the table's.
  const place = (leg: Leg) => order.findIndex(([name, era]) => name === leg.name && era === leg.era);
  legs.sort((a, b) => place(a) - place(b));
  return {
    legs,
    skipped,
    stop: async () => {
      await Promise.all(started.map((one) => one.stop()));
    },
  };
}

const isPeerName = (name: string) => !name.startsWith("raw_") && !name.startsWith("hop_");

/** Ours and the least a hop can be, of each wire in one era. */
function isOfSmoke([name, era]: Row): boolean {
  return !isPeerName(name) && name.endsWith("stdio") === (era === "legacy");
}

type Row = [name: string, era: Era, tool: string, start: Start, manner?: Manner];

function rows({ http, stdio }: Backends): Row[] {
  const child = (era: Era) => ({ command: stdio[era][0], args: stdio[era].slice(1) });
  const rawHttp: Start = (era) => startOwn("./raw-hop.ts", [http[era].url]);
  const rawStdio: Start = (era) => startOwn("./raw-hop-stdio.ts", stdio[era]);
  const oursHttp: Start = (era, dir) => startOurs({ url: http[era].url }, dir);
  const oursStdio: Start = (era, dir) => startOurs(child(era), dir);
  const proxyHttp: Start = (era, dir) => startMcpProxyHttp(http[era].url, dir);
  const proxyStdio: Start = (era, dir) => startMcpProxy(stdio[era], dir);
  return [
    ["raw_hop", "modern", "echo", rawHttp],
    ["raw_hop", "legacy", "echo", rawHttp],
    ["hop_http", "modern", "bench.echo", oursHttp],
    ["hop_http", "legacy", "bench.echo", oursHttp],
    ["mcp_proxy_http", "modern", "echo", proxyHttp],
    ["mcp_proxy_http", "legacy", "echo", proxyHttp],
    ["mcp_hub_http", "legacy", "bench__echo", (era, dir) => startMcpHub({ url: http[era].url }, dir), "sse"],
    ["raw_hop_stdio", "modern", "echo", rawStdio],
    ["raw_hop_stdio", "legacy", "echo", rawStdio],
    ["hop_stdio", "modern", "bench.echo", oursStdio],
    ["hop_stdio", "legacy", "bench.echo", oursStdio],
    ["mcp_proxy_stdio", "modern", "echo", proxyStdio],
    ["mcp_proxy_stdio", "legacy", "echo", proxyStdio],
    // In the modern era it starts a process for every call; that would measure starting processes.
    ["supergateway_stdio", "legacy", "echo", (era, dir) => startSupergateway(stdio[era], dir)],
    ["mcp_hub_stdio", "legacy", "bench__echo", (era, dir) => startMcpHub(child(era), dir), "sse"],
  ];
}
