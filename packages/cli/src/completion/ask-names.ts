// Names the running gateway knows, asked for while somebody holds a finger on Tab: soon, or not at all.
import { isObject } from "@mcpx/protocol";
import { runningPlace } from "../access/running-gateway.ts";
import type { NameKind } from "../framework/command.ts";

const answerBytesMax = 1_000_000;

export interface NamesWanted {
  kinds: readonly NameKind[];
  room: string | undefined;
  waitMs: number;
}

export async function askNames(dataDir: string, { kinds, room, waitMs }: NamesWanted): Promise<string[]> {
  const place = runningPlace(dataDir);
  if (place?.names === undefined) return [];
  const { url, names: key } = place;
  // Not `fetch`, which takes longer to load than the gateway to answer.
  const { get } = url.startsWith("https:") ? await import("node:https") : await import("node:http");
  const signal = AbortSignal.timeout(waitMs);
  const lists = await Promise.all(
    kinds.map((kind) => {
      const query = new URLSearchParams({ of: kind, ...(room !== undefined && { room }) });
      return askOnce(get, `${url}/admin/names?${query}`, { key, signal });
    }),
  );
  return lists.flat();
}

async function askOnce(
  get: typeof import("node:http").get,
  url: string,
  { key, signal }: { key: string; signal: AbortSignal },
): Promise<string[]> {
  const text = await new Promise<string>((resolve, reject) => {
    const asked = get(url, { headers: { authorization: `Bearer ${key}` }, signal }, (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (part: string) => {
        body += part;
        if (body.length > answerBytesMax) asked.destroy(new Error("too much"));
      });
      response.on("end", () => resolve(body));
      response.on("error", reject);
    });
    asked.on("error", reject);
  });
  const answer: unknown = JSON.parse(text);
  const names = isObject(answer) && Array.isArray(answer.names) ? answer.names : [];
  return names.filter((name) => typeof name === "string");
}
