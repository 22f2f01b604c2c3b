// GET /v0/topics/{topic}/history: what was said, newest first. [X0-5.3-3] [X0-5.3-4]
import type { HttpRequest, HttpResponse } from "@mcpx/host";
import { isId, isTimestamp, McpxError, timestampMs } from "@mcpx/protocol";
import { withSeq } from "../delivery/render.ts";
import { topicOptions } from "../joining/open-room.ts";
import type { Gateway } from "../room/gateway-state.ts";
import { type PageOptions, readPage } from "../topic-log/read-page.ts";
import { numberOf, topicOf } from "./caller.ts";

export async function readHistory(gateway: Gateway, request: HttpRequest): Promise<HttpResponse> {
  const topic = await topicOf(gateway, request);
  const text = await historyText(gateway, topic, request.query, () => request.turn());
  return { text, headers: { "content-type": "application/json; charset=utf-8" } };
}

export async function historyText(
  gateway: Gateway,
  topic: string,
  query: URLSearchParams,
  turn?: PageOptions["turn"],
): Promise<string> {
  if (!topicOptions(gateway, topic).history) throw new McpxError("history_disabled");
  const { historyPageMax, queueBytesMax } = gateway.limits;
  const limit = Math.min(numberOf(query, "limit", 100), historyPageMax);
  if (limit < 1) throw new McpxError("bad_request", "limit must be at least 1");
  const after = await afterOf(gateway, topic, query);
  const before = await beforeOf(gateway, topic, query);
  const page = { after, before, limit, bytesMax: queueBytesMax, turn };
  const { entries, hasMore } = await readPage(gateway.durableLog, topic, page);
  const texts = entries.map((entry) => withSeq(entry.text, entry));
  const next = hasMore ? nextPage(topic, limit, entries.at(-1)?.seq ?? 0, after) : undefined;
  // Spliced, so that the bytes are those that were sent.
  return `{"envelopes":[${texts.join(",")}]${next === undefined ? "" : `,"next":${JSON.stringify(next)}`}}`;
}

function nextPage(topic: string, limit: number, beforeSeq: number, after: number | undefined): string {
  const within = after === undefined ? "" : `&after_seq=${after}`;
  return `/v0/topics/${encodeURIComponent(topic)}/history?limit=${limit}&before_seq=${beforeSeq}${within}`;
}

async function beforeOf(
  gateway: Gateway,
  topic: string,
  query: URLSearchParams,
): Promise<number | undefined> {
  const seq = numberOf(query, "before_seq", undefined);
  const point = query.get("before");
  if (seq !== undefined || point === null) return seq;
  if (isTimestamp(point)) return (await gateway.durableLog.seqBefore(topic, timestampMs(point))) + 1;
  return seqOf(gateway, topic, point, "before");
}

async function afterOf(gateway: Gateway, topic: string, query: URLSearchParams): Promise<number | undefined> {
  const seq = numberOf(query, "after_seq", undefined);
  const point = query.get("after");
  if (seq !== undefined || point === null) return seq;
  // Strictly after: what came in the same millisecond counts as before.
  if (isTimestamp(point)) return gateway.durableLog.seqBefore(topic, timestampMs(point) + 1);
  return seqOf(gateway, topic, point, "after");
}

async function seqOf({ durableLog }: Gateway, topic: string, id: string, name: string): Promise<number> {
  if (!isId(id))
    throw new McpxError("bad_request", `${name} must be an envelope id or a timestamp (write + as %2B)`);
  const entry = await durableLog.find(topic, id);
  if (entry === undefined) throw new McpxError("not_found", `no envelope with the id given in ${name}`);
  return entry.seq;
}
