// Which of the servers that were found come into the configuration, and under which names. Pure.
import { isDeepStrictEqual } from "node:util";
import type { ServerEntry } from "../config-edit/edit-config.ts";
import type { FoundServer } from "./find-servers.ts";

export interface PlannedServer {
  /** The server's name in mcpx.json. */
  name: string;
  found: FoundServer;
  /** The same server at other clients. */
  also: FoundServer[];
  /** The server that has this one's name already. */
  takenBy: string | undefined;
}

export interface LeftServer {
  found: FoundServer;
  why: string;
}

export interface ImportPlan {
  planned: PlannedServer[];
  left: LeftServer[];
}

export interface Present {
  /** The servers of mcpx's configuration, as they are written there. */
  servers: ReadonlyMap<string, ServerEntry>;
  /** Their segments, with whom they belong to. */
  segments: ReadonlyMap<string, string>;
  segmentFor(name: string): string;
}

export function planImport(found: readonly FoundServer[], present: Present): ImportPlan {
  const plan: ImportPlan = { planned: [], left: [] };
  const holders = new Map([["mcpax", "mcpx itself"], ...present.segments]);
  for (const server of found) {
    if (server.isOurs) {
      plan.left.push({ found: server, why: "is mcpx itself" });
      continue;
    }
    const held = [...present.servers].find(([, entry]) => isSame(entry, server.entry));
    if (held !== undefined) {
      plan.left.push({ found: server, why: `is here already, as ${held[0]}` });
      continue;
    }
    const twin = plan.planned.find((other) => isSame(other.found.entry, server.entry));
    if (twin !== undefined) {
      twin.also.push(server);
      continue;
    }
    const takenBy = holders.get(present.segmentFor(server.name));
    const name = freeName(server.name, (wish) => holders.has(present.segmentFor(wish)));
    holders.set(present.segmentFor(name), `${name} of ${server.client}`);
    plan.planned.push({ name, found: server, also: [], takenBy });
  }
  return plan;
}

/** The name itself, else with a number behind it. */
function freeName(name: string, isTaken: (name: string) => boolean): string {
  if (!isTaken(name)) return name;
  // Long names are cut to segments of 63; the number must not be what is cut off.
  const short = name.slice(0, 50);
  for (let count = 2; ; count += 1) {
    if (!isTaken(`${short}-${count}`)) return `${short}-${count}`;
  }
}

/** What is reached, whatever it is called and whether it is on. */
export function isSame(a: ServerEntry, b: ServerEntry): boolean {
  return isDeepStrictEqual(reach(a), reach(b));
}

function reach({ command, args = [], env = {}, url, headers = {} }: ServerEntry) {
  return { command, args: [...args], env: { ...env }, url, headers: { ...headers } };
}

/** `1 3-5`, `all`; `undefined` where it is none of these or names what is not there. */
export function readChoice(answer: string, count: number): number[] | undefined {
  if (answer === "") return [];
  if (/^(all|a|\*)$/i.test(answer)) return Array.from({ length: count }, (_, index) => index);
  const chosen = new Set<number>();
  for (const word of answer.split(/[\s,]+/).filter((part) => part !== "")) {
    const [, from, to] = /^([0-9]{1,4})(?:-([0-9]{1,4}))?$/.exec(word) ?? [];
    const [first, last] = [Number(from), Number(to ?? from)];
    if (!(first >= 1 && last >= first && last <= count)) return undefined;
    for (let number = first; number <= last; number += 1) chosen.add(number - 1);
  }
  return [...chosen].sort((a, b) => a - b);
}
