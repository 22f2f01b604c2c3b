// One span, from its beginning to its end. Bounded, whatever it is told.
import type {
  Attributes,
  AttributeValue,
  Link,
  Span,
  SpanContext,
  SpanKind,
  SpanStatus,
  SpanStatusCode,
} from "@opentelemetry/api";

export interface SpanRecord {
  readonly context: SpanContext;
  readonly parentSpanId: string | undefined;
  name: string;
  readonly kind: SpanKind;
  readonly attributes: Map<string, AttributeValue>;
  readonly events: { name: string; atMs: number; attributes: Attributes }[];
  readonly links: SpanContext[];
  status: { code: SpanStatusCode; message?: string | undefined };
  /** Ms since 1970, with fractions. */
  readonly startMs: number;
  endMs: number;
}

const attributesMax = 64;
const eventsMax = 64;
const linksMax = 16;
const charsMax = 1_024;

/** `ended` is called once. Times that callers give are not used: all are taken when they happen. */
export function recordedSpan(
  record: SpanRecord,
  nowMs: () => number,
  ended: (record: SpanRecord) => void,
): Span {
  let isOver = false;
  const changing = (change: () => void): Span => {
    if (!isOver) change();
    return span;
  };
  const setAttribute = (key: string, value: AttributeValue) => {
    const { attributes } = record;
    if (attributes.size < attributesMax || attributes.has(key)) attributes.set(key, cut(value));
  };
  const span: Span = {
    spanContext: () => record.context,
    isRecording: () => !isOver,
    setAttribute: (key, value) => changing(() => setAttribute(key, value)),
    setAttributes: (attributes) =>
      changing(() => {
        for (const [key, value] of Object.entries(attributes))
          if (value !== undefined) setAttribute(key, value);
      }),
    addEvent: (name, attributes) =>
      changing(() => {
        if (record.events.length < eventsMax)
          record.events.push({ name: name.slice(0, charsMax), atMs: nowMs(), attributes: plain(attributes) });
      }),
    addLink: (link) => changing(() => addLinks(record, [link])),
    addLinks: (links) => changing(() => addLinks(record, links)),
    setStatus: ({ code, message }: SpanStatus) =>
      changing(() => {
        record.status = { code, message: message?.slice(0, charsMax) };
      }),
    updateName: (name) =>
      changing(() => {
        record.name = name.slice(0, charsMax);
      }),
    recordException: (exception) => {
      const message = typeof exception === "string" ? exception : (exception.message ?? "");
      span.addEvent("exception", { "exception.message": message.slice(0, charsMax) });
    },
    end: () =>
      void changing(() => {
        isOver = true;
        record.endMs = Math.max(nowMs(), record.startMs);
        ended(record);
      }),
  };
  return span;
}

function addLinks({ links }: SpanRecord, more: readonly Link[]): void {
  links.push(...more.slice(0, linksMax - links.length).map(({ context }) => context));
}

function plain(attributes: unknown): Attributes {
  const isPlain = typeof attributes === "object" && attributes !== null && !Array.isArray(attributes);
  return isPlain && !(attributes instanceof Date) ? (attributes as Attributes) : {};
}

function cut(value: AttributeValue): AttributeValue {
  return typeof value === "string" ? value.slice(0, charsMax) : value;
}
