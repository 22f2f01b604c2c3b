// One text from the gateway: into its order, once, and to whom it concerns. One switch, no answers.

import { isObject, numeric, written } from "@mcpx/protocol";
import { type Position, placeOf } from "../core/position.ts";
import { retryAfter } from "../core/retry-after.ts";
import { gatewayId, type RoomEnvelope, readFrame } from "../core/room-envelope.ts";
import { RoomError } from "../core/room-error.ts";
import type { Connection } from "./connection.ts";
import type { Receipt } from "./outbox.ts";
import { readWelcome, type Welcome } from "./welcome.ts";

export interface ReceiveHandlers {
  welcomed(welcome: Welcome): void;
  /** An envelope of the topic, in order, once; own ones when they are acknowledged. */
  envelope(envelope: RoomEnvelope): void;
  /** What the gateway says: presence, levels and the like. */
  notice(envelope: RoomEnvelope): void;
  gap(gap: { reason: string; from: Position; to: Position }): void;
  tokenExpiring(): void;
  /** Asks the gateway for any sign of life. */
  probe(): void;
}

export function receive(connection: Connection, text: string): void {
  const { envelope, seq } = readFrame(text);
  if (envelope !== undefined) connection.options.signing?.keepFrame(envelope, text);
  if (envelope === undefined) {
    // It had its place: waiting for it to come right would be for ever.
    if (seq !== undefined && connection.welcomedAtMs !== undefined) advance(connection, seq);
    connection.handlers.error(
      new RoomError("bad_answer", "the gateway sent a message that is not an envelope"),
    );
  } else if (envelope.from === gatewayId) {
    receiveGateway(connection, envelope);
  } else if (connection.welcomedAtMs !== undefined && envelope.seq !== undefined) {
    if (!advance(connection, envelope.seq)) return;
    // Of a connection before this one: nothing else will acknowledge it.
    const { id, seq, at } = envelope;
    connection.outbox.acked(id, { id, seq, at: written(at) }, envelope.from);
    connection.handlers.envelope(envelope);
  }
}

function receiveGateway(connection: Connection, envelope: RoomEnvelope): void {
  const { handlers } = connection;
  const event = envelope.kind === "system" ? envelope.payload.event : undefined;
  if (event === "welcome") receiveWelcome(connection, envelope);
  else if (connection.welcomedAtMs === undefined) return;
  else if (event === "ack") receiveAck(connection, envelope);
  else if (event === "error" || envelope.kind === "mcp") receiveRefusal(connection, envelope);
  else {
    if (event === "token_expiring") handlers.tokenExpiring();
    if (event === "draining") receiveDraining(connection, envelope);
    handlers.notice(envelope);
  }
}

function receiveDraining(connection: Connection, { payload }: RoomEnvelope): void {
  const afterMs = numeric(payload.reconnect_after_ms);
  if (afterMs >= 0) connection.returnAfterMs = Math.min(afterMs, 60_000);
}

function receiveWelcome(connection: Connection, envelope: RoomEnvelope): void {
  const welcome = readWelcome(envelope);
  const { session, handlers, position, outbox } = connection;
  if (welcome === undefined || session === undefined) {
    session?.end({ code: 1006, reason: "" });
    return;
  }
  if (position === undefined || welcome.refusedResume !== undefined) connection.position = welcome.position;
  connection.setLive();
  handlers.welcomed(welcome);
  if (position !== undefined && welcome.refusedResume !== undefined) {
    connection.gapEndSeq = welcome.position.seq;
    handlers.gap({ reason: welcome.refusedResume, from: position, to: welcome.position });
  }
  outbox.connect((text) => session.send(text));
}

function receiveAck(connection: Connection, { payload }: RoomEnvelope): void {
  const { id, seq, at } = payload;
  if (typeof id !== "string") return;
  const receipt: Receipt = { id, seq: typeof seq === "number" ? seq : undefined, at: written(at) };
  // Own envelopes take their place in the stream as acks.
  if (receipt.seq !== undefined) advance(connection, receipt.seq);
  const own = connection.outbox.acked(id, receipt);
  if (own === undefined || receipt.seq === undefined) return;
  connection.handlers.envelope({ ...own, seq: receipt.seq, at: receipt.at });
}

function receiveRefusal(connection: Connection, envelope: RoomEnvelope): void {
  const { payload, correlation_id: id } = envelope;
  const fault = isObject(payload.error) ? payload.error : payload;
  const data = isObject(fault.data) ? fault.data : {};
  const error = new RoomError(written(data.reason ?? "refused"), written(fault.message), {
    ...(typeof fault.code === "number" ? { code: fault.code } : {}),
    ...retryAfter(fault.retry_after_ms ?? data.retry_after_ms),
    data,
  });
  if (id === undefined || !connection.outbox.refused(id, error)) connection.handlers.error(error);
}

/** Whether it is the next one. After a hole the connection is no good: resuming fills it. */
function advance(connection: Connection, seq: number): boolean {
  const { position, session, handlers } = connection;
  if (position === undefined) return false;
  const place = placeOf(position, seq);
  if (place === "next") connection.position = { ...position, seq };
  if (place === "hole") {
    handlers.error(new RoomError("bad_answer", `number ${seq} came after ${position.seq}`));
    session?.end({ code: 1006, reason: "" });
  }
  return place === "next";
}
