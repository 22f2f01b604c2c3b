// The tree in numbers, as the gateway tells it.
import { isObject, type JsonObject } from "@mcpx/protocol";
import type { Api } from "../store/api.ts";

interface MinuteFigures {
  at: number;
  answered: number;
  failed: number;
  refused: number;
}

export interface Figures {
  name: string;
  /** Since when the tree counts, and when it said so. */
  since: number;
  now: number;
  /** Oldest first, an hour at most. */
  minutes: readonly MinuteFigures[];
  /** Of all servers, those that were let go too; since then. */
  total: { answered: number; failed: number };
  /** By the server's segment, or its name where it is at the root; since then. */
  calls: Readonly<Record<string, { answered: number; failed: number }>>;
  /** Why calls came to nothing, since then. */
  reasons: Readonly<Record<string, number>>;
  /** Notifications that were too many to pass on, by server, since then. */
  dropped: Readonly<Record<string, number>>;
  servers: readonly JsonObject[];
  parents: readonly JsonObject[];
}

export async function readFigures(api: Pick<Api, "call">): Promise<Figures> {
  const { name, since, now, minutes, total, calls, reasons, dropped, servers, parents } = await api.call(
    "GET",
    "/figures",
  );
  return {
    name: String(name),
    since: Date.parse(String(since)),
    now: Date.parse(String(now)),
    minutes: objects(minutes).map((one) => ({
      at: Date.parse(String(one.at)),
      ...counts(one),
      refused: Number(one.refused),
    })),
    total: counts(isObject(total) ? total : {}),
    calls: Object.fromEntries(
      Object.entries(isObject(calls) ? calls : {}).map(([server, one]) => [
        server,
        counts(isObject(one) ? one : {}),
      ]),
    ),
    reasons: numbers(reasons),
    dropped: numbers(isObject(dropped) ? dropped.subservers : {}),
    servers: objects(servers),
    parents: objects(parents),
  };
}

export async function readDevices(api: Pick<Api, "call">): Promise<JsonObject[]> {
  return objects((await api.call("GET", "/admin/devices")).devices);
}

function counts({ answered, failed }: JsonObject): { answered: number; failed: number } {
  return { answered: Number(answered), failed: Number(failed) };
}

function numbers(value: unknown): Record<string, number> {
  return Object.fromEntries(
    Object.entries(isObject(value) ? value : {}).map(([key, count]) => [key, Number(count)]),
  );
}

function objects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
