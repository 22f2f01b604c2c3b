// Chat in its two forms, and the rendering of each as the other: the one exception to "payloads are never
// rewritten". [X0-8.1-1] [X0-8.1-2]

import { McpxError } from "../errors.ts";
import { isObject, type JsonObject } from "../json/json-rpc.ts";
import { roomMethods } from "../room-methods.ts";
import { type Envelope, type Protocol, payloadText, replaceFields, withFields } from "./envelope.ts";

export const v0ChatMethod = roomMethods.chat;

/** COMPAT: v0 has no chat kind; it sends a notification. */
export function isV0Chat(envelope: Pick<Envelope, "protocol" | "kind" | "payload" | "scanned">): boolean {
  return (
    // Levels take it for chat, so no reader may take it for another call, such as one that keeps the first of two.
    envelope.scanned.payloadDuplicate === undefined &&
    envelope.protocol === "mcp-x/v0" &&
    envelope.kind.kind === "mcp" &&
    // A kind that says request is one: v0 members get it as written.
    envelope.kind.isRequest === undefined &&
    envelope.payload.method === v0ChatMethod &&
    !Object.hasOwn(envelope.payload, "id")
  );
}

/** The chat body of either form, checked; `field` is where it stands. [X1-4.3-1] */
export function checkChat(
  body: unknown,
  field: "payload" | "payload.params",
): asserts body is JsonObject & { text: string } {
  if (!isObject(body)) throw new McpxError("bad_chat", `${field} must be an object`);
  if (typeof body.text !== "string") throw new McpxError("bad_chat", `${field}.text must be a string`);
  if (body.format !== undefined && body.format !== "plain" && body.format !== "markdown") {
    throw new McpxError("bad_chat", `${field}.format must be plain or markdown`);
  }
}

/** A chat envelope rendered for connections of the other protocol; `undefined` for anything but chat. */
export interface DerivedChat {
  /** Which connections get it instead of the original. */
  audience: Protocol;
  text: string;
}

/** Renders chat for the other protocol; `relayed` is the envelope's text with the gateway's additions at its end. */
export function deriveChat(envelope: Envelope, relayed: string): DerivedChat | undefined {
  const { payloadFields } = envelope.scanned;
  if (isV0Chat(envelope)) {
    const params = payloadFields.get("params");
    if (params === undefined) return undefined;
    const payload = relayed.slice(params.start, params.end);
    return { audience: "mcpx/v0.1", text: render(envelope, relayed, "mcpx/v0.1", "chat", payload) };
  }
  if (envelope.kind.kind !== "chat") return undefined;
  const payload = `{"jsonrpc":"2.0","method":"${v0ChatMethod}","params":${payloadText(envelope)}}`;
  return { audience: "mcp-x/v0", text: render(envelope, relayed, "mcp-x/v0", "mcp", payload) };
}

function render(
  envelope: Envelope,
  relayed: string,
  protocol: Protocol,
  kind: string,
  payload: string,
): string {
  const { fields } = envelope.scanned;
  const text = replaceFields(
    { text: relayed, fields },
    { protocol: `"${protocol}"`, kind: `"${kind}"`, payload },
  );
  return withFields(text, [`"derived":"${envelope.protocol}"`]);
}
