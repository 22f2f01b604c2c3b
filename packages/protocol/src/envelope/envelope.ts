// The envelope: reading one from a participant, and what may be added to or rendered from its bytes.
import { McpxError } from "../errors.ts";
import { isObject, isRequestId, type JsonObject } from "../json/json-rpc.ts";
import { quoteShort, type Scanned, type Span } from "../json/scan.ts";
import { type ParsedKind, parseKind } from "../kinds.ts";
import type { Limits } from "../limits.ts";
import { foldCase, isId } from "../names.ts";
import { isTimestamp } from "../time.ts";

export const protocols = ["mcpx/v0.1", "mcp-x/v0"] as const;

export type Protocol = (typeof protocols)[number];

export function isProtocol(value: unknown): value is Protocol {
  return protocols.includes(value as Protocol);
}

export interface Envelope {
  protocol: Protocol;
  id: string;
  ts: string | undefined;
  from: string | undefined;
  to: readonly string[];
  kind: ParsedKind;
  correlationId: string | undefined;
  payload: JsonObject;
  scanned: Scanned;
}

const fieldNames = new Set([
  "protocol", "id", "ts", "from", "to", "kind", "correlation_id", "correlationId", "payload",
]); // biome-ignore format: one line reads best
const lowerNames = new Set([...fieldNames].map((name) => name.toLowerCase()));

/** Fields only the gateway sets. [X0-4-8] */
const gatewayFields = new Set(["seq", "at", "epoch", "ack", "derived"]);

/**
 * Checks every field of an envelope, or throws naming the first fault. `newId` gives an id to v0 envelopes that come
 * without one; where it is not given, they are refused like all others. [X0-4-2] [X0-4-6]
 */
export function readEnvelope(scanned: Scanned, limits: Limits, newId?: () => string): Envelope {
  const { value } = scanned;
  checkFieldNames(scanned.fields.keys());
  // Unsupported versions are told before anything else: the rest may look different there.
  if (value.protocol === undefined) throw missing("protocol");
  if (!isProtocol(value.protocol))
    throw new McpxError("unsupported_protocol", "protocol is not one we speak");
  // COMPAT: messages printed for v0 have no id. Nobody can send such an envelope again without saying it twice. [AC-11-1]
  const id = value.id === undefined && value.protocol === "mcp-x/v0" ? newId?.() : value.id;
  if (id === undefined) throw missing("id");
  if (!isId(id, limits.idCharsMax)) throw badField("id", idRule(limits));
  if (value.kind === undefined) throw missing("kind");
  if (typeof value.kind !== "string") throw badField("kind", "must be a string");
  const kind = parseKind(value.kind);
  if (kind === undefined) throw new McpxError("unknown_kind", `${quoteShort(value.kind)} is not a kind`);
  if (value.ts !== undefined && !isTimestamp(value.ts)) throw badField("ts", "must be an RFC 3339 timestamp");
  if (value.from !== undefined && !isId(value.from, limits.idCharsMax))
    throw badField("from", idRule(limits));
  if (value.payload === undefined) throw missing("payload");
  if (!isObject(value.payload)) throw badField("payload", "must be an object");
  return {
    protocol: value.protocol,
    id,
    ts: value.ts,
    from: value.from,
    to: readTo(value.to, limits),
    kind,
    correlationId: readCorrelationId(value, limits),
    payload: value.payload,
    scanned,
  };
}

function checkFieldNames(names: Iterable<string>): void {
  for (const name of names) {
    if (gatewayFields.has(name)) throw new McpxError("reserved_field", `${name} is set by the gateway`);
    const lower = foldCase(name);
    if (!fieldNames.has(name) && (lowerNames.has(lower) || gatewayFields.has(lower))) {
      throw new McpxError("bad_field", `${quoteShort(name)} is a look-alike of ${lower}`);
    }
  }
}

function readTo(to: unknown, limits: Limits): readonly string[] {
  if (to === undefined) return [];
  if (!Array.isArray(to)) throw badField("to", "must be an array of participant ids");
  if (to.length > limits.toMax) throw badField("to", `must have at most ${limits.toMax} ids`);
  for (const id of to) if (!isId(id, limits.idCharsMax)) throw badField("to", `each id ${idRule(limits)}`);
  if (new Set(to).size !== to.length) throw badField("to", "names a participant twice");
  return to;
}

/** COMPAT: `correlationId` is read too; where both stand they must agree. [PL-1-2] */
function readCorrelationId(value: JsonObject, limits: Limits): string | undefined {
  const { correlation_id: canonical, correlationId: other } = value;
  for (const [name, id] of [
    ["correlation_id", canonical],
    ["correlationId", other],
  ] as const) {
    if (id !== undefined && !isId(id, limits.idCharsMax)) throw badField(name, idRule(limits));
  }
  if (canonical !== undefined && other !== undefined && canonical !== other) {
    throw badField("correlation_id", "differs from correlationId");
  }
  return (canonical ?? other) as string | undefined;
}

function idRule(limits: Limits): string {
  return `must be 1 to ${limits.idCharsMax} characters of A-Z a-z 0-9 . _ : @ / + -`;
}

function missing(field: string): McpxError {
  return new McpxError("missing_field", `${field} is missing`);
}

function badField(field: string, rule: string): McpxError {
  return new McpxError("bad_field", `${field} ${rule}`);
}

/** What can still be said of a refused envelope: whom the answer belongs to. */
export interface Readable {
  envelopeId: string | undefined;
  /** The JSON text of a JSON-RPC request's id, so that it is echoed as it came. */
  requestId: string | undefined;
  isMcp: boolean;
}

export function readable(scanned: Scanned, limits: Limits): Readable {
  const { value, payloadFields, text } = scanned;
  const isMcp = typeof value.kind === "string" && parseKind(value.kind)?.kind === "mcp";
  const payload = isObject(value.payload) ? value.payload : {};
  const idSpan = payloadFields.get("id");
  const isRequest =
    isMcp && typeof payload.method === "string" && isRequestId(payload.id) && idSpan !== undefined;
  return {
    envelopeId: isId(value.id, limits.idCharsMax) ? value.id : undefined,
    requestId: isRequest ? text.slice(idSpan.start, idSpan.end) : undefined,
    isMcp,
  };
}

/** The bytes of the payload, as sent. [X0-7-3] */
export function payloadText({ scanned }: Envelope): string {
  return sliceOf(scanned, "payload");
}

/** What two envelopes with the same id must share to be the same: `ts` is left out on purpose. [X0-4-3] */
export function bodyText(envelope: Envelope): string {
  const head = [envelope.scanned.value.kind, envelope.to, envelope.correlationId ?? null];
  return `${JSON.stringify(head)}${payloadText(envelope)}`;
}

/** The envelope as it is relayed: the sender's bytes plus the fields it left to the gateway. [X0-4-2] */
export function relayText(envelope: Envelope, from: string, ts: string): string {
  const added: string[] = [];
  if (envelope.scanned.value.id === undefined) added.push(`"id":${JSON.stringify(envelope.id)}`);
  if (envelope.ts === undefined) added.push(`"ts":"${ts}"`);
  if (envelope.from === undefined) added.push(`"from":${JSON.stringify(from)}`);
  if (envelope.correlationId !== undefined && envelope.scanned.value.correlation_id === undefined) {
    added.push(`"correlation_id":${JSON.stringify(envelope.correlationId)}`);
  }
  return withFields(envelope.scanned.text, added);
}

/** Adds fields at the end of the text of an object that has some already and no space behind it. */
export function withFields(text: string, added: readonly string[]): string {
  return added.length === 0 ? text : `${text.slice(0, -1)},${added.join(",")}}`;
}

/** Replaces the bytes of some fields, leaving all others as they are. */
export function replaceFields(
  scanned: Pick<Scanned, "text" | "fields">,
  values: Record<string, string>,
): string {
  const spans = Object.entries(values)
    .map(([name, value]) => ({ value, span: scanned.fields.get(name) as Span }))
    .sort((a, b) => b.span.start - a.span.start);
  return spans.reduce(
    (text, { value, span }) => text.slice(0, span.start) + value + text.slice(span.end),
    scanned.text,
  );
}

function sliceOf({ text, fields }: Scanned, name: string): string {
  const span = fields.get(name);
  if (span === undefined) throw new Error(`no field ${name}`);
  return text.slice(span.start, span.end);
}
