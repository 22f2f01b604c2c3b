// Audit records as one POST: to a collector of OpenTelemetry (OTLP logs in JSON), or to a webhook.
import type { ChainedRow } from "../chain.ts";
import { exportLine } from "../export.ts";
import type { AuditPlace } from "./push-audit.ts";

export interface PostPlaceOptions {
  url: string;
  /** Asked for at each request: secrets can be replaced meanwhile. */
  headers(id: string, body: string): Readonly<Record<string, string>>;
  /** What is posted. */
  body(rows: readonly ChainedRow[]): string;
}

const answerMs = 15_000;
const answerCharsMax = 65_536;

export function createPostPlace({ url, headers, body }: PostPlaceOptions): AuditPlace {
  return {
    async send(rows, signal) {
      const text = body(rows);
      const response = await fetch(url, {
        method: "POST",
        // The same records have the same id, by which the receiver drops doubles.
        headers: { ...headers(idOf(rows), text), "content-type": "application/json" },
        body: text,
        // A secret in a header is for this address and no other.
        redirect: "error",
        signal: AbortSignal.any([signal, AbortSignal.timeout(answerMs)]),
      });
      if (!response.ok) {
        await response.body?.cancel();
        throw new Error(`${URL.parse(url)?.host} answered ${response.status}`);
      }
      const refused = refusedIn(await firstOf(response));
      if (refused > 0)
        throw new Error(`${URL.parse(url)?.host} refused ${refused} of ${rows.length} records`);
    },
  };
}

function idOf(rows: readonly ChainedRow[]): string {
  return `audit_${rows[0]?.seq}_${rows.at(-1)?.seq}_${rows.at(-1)?.hash.slice(0, 16)}`;
}

/** What is longer is no answer that we read. */
async function firstOf(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    if (text.length > answerCharsMax) break;
  }
  return text;
}

/** A collector may take a part only, and say so with 200. */
function refusedIn(answer: string): number {
  try {
    const { partialSuccess } = JSON.parse(answer) as { partialSuccess?: { rejectedLogRecords?: unknown } };
    return Number(partialSuccess?.rejectedLogRecords ?? 0) || 0;
  } catch {
    return 0;
  }
}

/** For a webhook: the records as an export has them. */
export function webhookBody(rows: readonly ChainedRow[]): string {
  const timestamp = new Date(rows.at(-1)?.at ?? 0).toISOString();
  const records = rows.map(exportLine).join(",");
  return `{"type":"audit.records","timestamp":${JSON.stringify(timestamp)},"data":{"records":[${records}]}}`;
}

/** For a collector: a log record for each, its attributes to search by, and the record itself as its text. */
export function otlpLogs(rows: readonly ChainedRow[], resource: Readonly<Record<string, string>>): string {
  const logRecords = rows.map((row) => {
    const time = `${row.at}000000`;
    return {
      timeUnixNano: time,
      observedTimeUnixNano: time,
      ...(row.reason === null
        ? { severityNumber: 9, severityText: "INFO" }
        : { severityNumber: 13, severityText: "WARN" }),
      body: { stringValue: exportLine(row) },
      attributes: [
        ...textPairs({
          "event.name": "mcpx.audit",
          ...prefixed({ action: row.action, reason: row.reason, actor: row.actor }),
          ...prefixed({ subject: row.subject, topic: row.topic, hash: row.hash }),
        }),
        { key: "mcpx.audit.seq", value: { intValue: String(row.seq) } },
        { key: "mcpx.audit.count", value: { intValue: String(row.count) } },
      ],
    };
  });
  const scope = { name: "mcpx.audit" };
  return JSON.stringify({
    resourceLogs: [{ resource: { attributes: textPairs(resource) }, scopeLogs: [{ scope, logRecords }] }],
  });
}

function prefixed(fields: Readonly<Record<string, string | null>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) =>
      value === null ? [] : [[`mcpx.audit.${name}`, value]],
    ),
  );
}

function textPairs(fields: Readonly<Record<string, string>>) {
  return Object.entries(fields).map(([key, value]) => ({ key, value: { stringValue: value } }));
}
