// Spans on their way to a collector: in batches, tried again while it is away, and given up where there are too many.
// Nobody waits for it.
import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "../logging/log.ts";
import type { OtelSettings } from "./otel-settings.ts";
import { otlpJson } from "./otlp-json.ts";
import type { SpanRecord } from "./recorded-span.ts";

export interface OtlpExporter {
  take(record: SpanRecord): void;
  /** Sends what is left, once, and no longer than it takes to answer. */
  close(): Promise<void>;
}

const retriable = [429, 502, 503, 504];
const triesMax = 5;
const retryMs = { min: 1_000, max: 30_000 };
/** A collector that is away is not told of with every batch. */
const complainMs = 60_000;

export function createOtlpExporter(settings: OtelSettings, log: Logger): OtlpExporter {
  const { delayMs, queueMax, batchMax, resource } = settings;
  const queue: SpanRecord[] = [];
  const closing = new AbortController();
  let lost = 0;
  let complainedAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<void> | undefined;

  const complain = (why: string, spans: number) => {
    lost += spans;
    if (performance.now() - complainedAt < complainMs) return;
    complainedAt = performance.now();
    log.warn({ url: settings.url, lost, why }, "traces lost");
  };
  const sendAll = async () => {
    while (queue.length > 0) {
      const batch = queue.splice(0, batchMax);
      const body = otlpJson(batch, resource, String(resource["service.version"] ?? ""));
      const fault = await post(settings, body, closing.signal);
      if (fault !== undefined) complain(fault, batch.length);
    }
  };
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    sending ??= sendAll().finally(() => {
      sending = undefined;
      if (queue.length > 0) schedule();
    });
    return sending;
  };
  const schedule = () => {
    timer ??= setTimeout(flush, delayMs).unref();
  };
  return {
    take(record) {
      if (queue.length >= queueMax) return complain("more spans than the collector takes", 1);
      queue.push(record);
      if (queue.length >= batchMax) void flush();
      else schedule();
    },
    async close() {
      closing.abort();
      await sending;
      await flush();
      clearTimeout(timer);
    },
  };
}

/** Why it was given up; nothing where it has arrived. While closing, it is tried once. */
async function post(settings: OtelSettings, body: string, closing: AbortSignal): Promise<string | undefined> {
  for (let tried = 1; ; tried += 1) {
    const fault = await postOnce(settings, body);
    if (fault === undefined) return undefined;
    if (!fault.mayRetry || tried >= triesMax || closing.aborted) return fault.why;
    const ms = fault.retryAfterMs ?? Math.min(retryMs.max, retryMs.min * 2 ** (tried - 1));
    await pause(ms, undefined, { ref: false, signal: closing }).catch(() => {});
  }
}

interface Fault {
  why: string;
  mayRetry: boolean;
  retryAfterMs?: number | undefined;
}

async function postOnce({ url, headers, timeoutMs }: OtelSettings, body: string): Promise<Fault | undefined> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body,
      redirect: "error",
      signal: AbortSignal.timeout(timeoutMs),
    });
    await response.body?.cancel();
    if (response.ok) return undefined;
    const seconds = Number(response.headers.get("retry-after"));
    const retryAfterMs = seconds > 0 ? Math.min(retryMs.max, seconds * 1_000) : undefined;
    return { why: `HTTP ${response.status}`, mayRetry: retriable.includes(response.status), retryAfterMs };
  } catch (error) {
    return { why: error instanceof Error ? causeOf(error) : "unknown", mayRetry: true };
  }
}

function causeOf({ message, cause }: Error): string {
  return cause instanceof Error ? cause.message || message : message;
}
