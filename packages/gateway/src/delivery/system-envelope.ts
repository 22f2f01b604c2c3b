// Envelopes the gateway itself writes. They are never logged and carry no seq. [X0-5.2-5] [X1-4.4-1]
import { randomUUID } from "node:crypto";
import { errorTable, type McpxError, type Protocol, type Readable } from "@mcpx/protocol";

const gatewayId = "system:gateway";

interface Addressing {
  protocol: Protocol;
  to?: string;
  correlationId?: string | undefined;
}

/** `payload` is JSON text, so that relayed bytes inside it stay as they are. */
function envelopeText(
  kind: string,
  { protocol, to, correlationId }: Addressing,
  now: number,
  payload: string,
): string {
  const head: Record<string, unknown> = { protocol, id: randomUUID(), ts: isoTime(now), from: gatewayId };
  if (to !== undefined) head.to = [to];
  head.kind = kind;
  if (correlationId !== undefined) head.correlation_id = correlationId;
  return `${JSON.stringify(head).slice(0, -1)},"payload":${payload}}`;
}

export function systemText(addressing: Addressing, now: number, payload: object): string {
  return envelopeText("system", addressing, now, JSON.stringify(payload));
}

export function systemTextRaw(addressing: Addressing, now: number, payload: string): string {
  return envelopeText("system", addressing, now, payload);
}

export function presenceText(protocol: Protocol, now: number, payload: object): string {
  return envelopeText("presence", { protocol }, now, JSON.stringify(payload));
}

/** The answer to what is refused: a JSON-RPC error where a caller waits for one, else a system error. */
export function errorText(addressing: Addressing, now: number, error: McpxError, refused: Readable): string {
  const { code, message } = errorTable[error.code];
  const data = { reason: error.code, detail: error.detail, suggestion: error.suggestion };
  const retry = error.retryAfterMs === undefined ? {} : { retry_after_ms: error.retryAfterMs };
  const isViolation = refused.isMcp && error.code === "privilege_violation";
  if (refused.requestId !== undefined || isViolation) {
    // The caller's id as it came, null for what has none. [X1-4.4.2-1] [X0-4.1-5]
    const id = refused.requestId ?? "null";
    const rpcError = JSON.stringify({ code, message, data: { ...data, ...retry } });
    return envelopeText("mcp", addressing, now, `{"jsonrpc":"2.0","id":${id},"error":${rpcError}}`);
  }
  const payload = {
    event: "error",
    code,
    reason: error.code,
    message: `${message}: ${error.detail}`,
    ...retry,
    data,
  };
  return systemText(addressing, now, payload);
}

/** [AC-6-2] */
export function blockedText(addressing: Addressing, now: number, error: McpxError): string {
  const { code: reason, detail, suggestion } = error;
  const type = "tool_call_blocked";
  return systemText(addressing, now, { event: type, type, reason, detail, suggestion });
}

let newest = { ms: 0, text: "1970-01-01T00:00:00.000Z" };
let other = newest;

/** Remembers two: the acks of a batch ask in turn for the present and for the time of their envelopes. */
export function isoTime(ms: number): string {
  if (ms === newest.ms) return newest.text;
  if (ms !== other.ms) other = { ms, text: new Date(ms).toISOString() };
  [newest, other] = [other, newest];
  return newest.text;
}
