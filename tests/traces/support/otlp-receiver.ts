// A collector that takes nothing that is not exactly OTLP in JSON: what it does not know it refuses, and remembers why.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { z } from "zod";

const anyValue = z.union([
  z.strictObject({ stringValue: z.string() }),
  z.strictObject({ boolValue: z.boolean() }),
  z.strictObject({ intValue: z.string().regex(/^-?\d{1,19}$/) }),
  z.strictObject({ doubleValue: z.number() }),
]);
const attributes = z.array(z.strictObject({ key: z.string().min(1), value: anyValue }));
const traceId = z.string().regex(/^(?!0{32})[0-9a-f]{32}$/);
const spanId = z.string().regex(/^(?!0{16})[0-9a-f]{16}$/);
/** Of this century, in nanoseconds. */
const time = z.string().regex(/^[12]\d{18}$/);

const span = z
  .strictObject({
    traceId,
    spanId,
    parentSpanId: spanId.optional(),
    flags: z.int().min(0).max(0x3ff),
    name: z.string().min(1),
    kind: z.int().min(1).max(5),
    startTimeUnixNano: time,
    endTimeUnixNano: time,
    attributes,
    events: z.array(z.strictObject({ timeUnixNano: time, name: z.string(), attributes })),
    links: z.array(z.strictObject({ traceId, spanId })),
    status: z.strictObject({ code: z.int().min(0).max(2), message: z.string().optional() }),
  })
  .refine((one) => BigInt(one.endTimeUnixNano) >= BigInt(one.startTimeUnixNano), "ends before it begins")
  .refine(
    (one) => new Set(one.attributes.map(({ key }) => key)).size === one.attributes.length,
    "a key twice",
  );

const request = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource: z.strictObject({ attributes }),
      scopeSpans: z.array(
        z.strictObject({
          scope: z.strictObject({ name: z.string().min(1), version: z.string() }),
          spans: z.array(span).min(1),
        }),
      ),
    }),
  ),
});

export type SeenSpan = z.infer<typeof span>;

export interface OtlpReceiver {
  readonly url: string;
  readonly spans: SeenSpan[];
  readonly resources: Record<string, unknown>[];
  readonly headers: Record<string, unknown>[];
  /** Why requests were refused that were not OTLP. */
  readonly faults: string[];
  /** The next requests are answered with these statuses instead. */
  readonly away: number[];
  close(): Promise<void>;
}

export async function startReceiver(): Promise<OtlpReceiver> {
  const seen = { spans: [], resources: [], headers: [], faults: [], away: [] } as Omit<
    OtlpReceiver,
    "url" | "close"
  >;
  const server = createServer(async (message, response) => {
    seen.headers.push(message.headers);
    const body = await text(message);
    const status =
      seen.away.shift() ?? take(seen, message.method, message.url, message.headers["content-type"], body);
    response.writeHead(status, { "content-type": "application/json" }).end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    ...seen,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function take(
  { spans, resources, faults }: Omit<OtlpReceiver, "url" | "close">,
  method: string | undefined,
  path: string | undefined,
  type: string | undefined,
  body: string,
): number {
  const what = `${method} ${path} ${type}`;
  if (what !== "POST /v1/traces application/json") faults.push(what);
  const parsed = request.safeParse(JSON.parse(body));
  if (!parsed.success) faults.push(parsed.error.message);
  if (faults.length > 0 || !parsed.success) return 400;
  for (const { resource, scopeSpans } of parsed.data.resourceSpans) {
    resources.push(valuesOf(resource.attributes));
    spans.push(...scopeSpans.flatMap((scope) => scope.spans));
  }
  return 200;
}

/** Attributes as people read them. */
export function valuesOf(list: z.infer<typeof attributes>): Record<string, unknown> {
  return Object.fromEntries(list.map(({ key, value }) => [key, Object.values(value)[0]]));
}
